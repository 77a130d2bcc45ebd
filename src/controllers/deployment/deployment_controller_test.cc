#include "controllers/deployment/deployment_controller.h"

#include <gtest/gtest.h>

#include "controllers/common/controller_testing.h"
#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

class DeploymentControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }
  api::ObjectPtr deployment(const DeploymentText& text) {
    return make_deployment(text, ++revision_);
  }
  api::ObjectPtr set(const SetText& text) { return make_set(text, ++revision_); }
  DeploymentController controller_{context()};
};

TEST_F(DeploymentControllerTest, MakesASetNamedAfterItsTemplate) {
  show(deployment({.spec = R"(,"minReadySeconds":5)"}));
  sync();
  EXPECT_EQ(asked(), (Texts{"create replicasets", "patch deployments/web/status"}));
  const api::Json& made = body(0);
  const std::string_view name = api::find_string(*api::find_path(made, "metadata"), "name");
  ASSERT_TRUE(name.starts_with("web-"));
  const std::string hash(name.substr(4));
  EXPECT_EQ(
      api::find_string(*api::find_path(made, "spec.selector.matchLabels"), "pod-template-hash"),
      hash);
  EXPECT_EQ(
      api::find_string(*api::find_path(made, "spec.template.metadata.labels"), "pod-template-hash"),
      hash);
  EXPECT_EQ(api::find_string(*api::find_path(made, "metadata.labels"), "app"), "web");
  EXPECT_EQ(api::find_integer(*api::find_path(made, "spec"), "replicas"), 3);
  EXPECT_EQ(api::find_integer(*api::find_path(made, "spec"), "minReadySeconds"), 5);
  answer(0, set({.name = std::string(name)}));
  asked();
  EXPECT_EQ(events_,
            Texts{"ScalingReplicaSet Scaled up replica set " + std::string(name) + " from 0 to 3"});
}

TEST_F(DeploymentControllerTest, ItsAnnotationNamesTheRevision) {
  show(deployment({}));
  show(set({.name = "a", .available = 3, .annotations = sized(3, 4)}));
  sync();
  EXPECT_EQ(asked(), Texts{"patch deployments/web"});
  EXPECT_EQ(api::to_text(body(0)),
            R"({"metadata":{"annotations":{"deployment.kubernetes.io/revision":"1"},"uid":"ud"}})");
  const auto said = deployment({.annotations = R"("deployment.kubernetes.io/revision":"1")"});
  answer(0, said);
  show(said);
  EXPECT_EQ(asked(), Texts{"patch deployments/web/status"});
}

TEST_F(DeploymentControllerTest, ScalesOldAndNewWithOneEventEach) {
  show(deployment(
      {.replicas = 4, .image = "v2", .annotations = R"("deployment.kubernetes.io/revision":"2")"}));
  show(set({.name = "a", .replicas = 4, .available = 4, .annotations = sized(4, 5)}));
  show(set({.name = "b",
            .image = "v2",
            .replicas = 1,
            .available = 1,
            .annotations = sized(4, 5, 2),
            .created = "2025-12-31T01:00:00Z"}));
  sync();
  EXPECT_EQ(asked(), (Texts{"patch replicasets/a", "patch deployments/web/status"}));
  EXPECT_EQ(api::to_text(body(0)), R"({"metadata":{"uid":"u-a"},"spec":{"replicas":2}})");
  answer(0, set({.name = "a", .replicas = 2}));
  asked();
  EXPECT_EQ(events_, Texts{"ScalingReplicaSet Scaled down replica set a from 4 to 2"});
}

TEST_F(DeploymentControllerTest, ANameThatIsTakenLeadsToAnother) {
  show(deployment(
      {.status =
           R"({"observedGeneration":1,"unavailableReplicas":3,"terminatingReplicas":0,"conditions":[{"type":"Available","status":"False","reason":"MinimumReplicasUnavailable"}]})"}));
  sync();
  ASSERT_EQ(asked(), Texts{"create replicasets"});
  const std::string name(api::find_string(*api::find_path(body(0), "metadata"), "name"));
  show(object(
      apps_kind("ReplicaSet"),
      fmt::format(
          R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"other","labels":{{"x":"y"}}}}}})",
          name)));
  refuse(0, Reason::AlreadyExists);
  ASSERT_EQ(asked(), Texts{"patch deployments/web/status"});
  EXPECT_EQ(api::find_integer(*api::find_path(body(1).as_array()[1], "value"), "collisionCount"),
            1);
  const auto counted = deployment(
      {.status =
           R"({"observedGeneration":1,"unavailableReplicas":3,"terminatingReplicas":0,"collisionCount":1,"conditions":[{"type":"Available","status":"False","reason":"MinimumReplicasUnavailable"}]})"});
  answer(1, counted);
  show(counted);
  now_ += std::chrono::minutes{1};
  ASSERT_EQ(asked(), Texts{"create replicasets"});
  EXPECT_NE(api::find_string(*api::find_path(body(2), "metadata"), "name"), name);
}

TEST_F(DeploymentControllerTest, ASetThatIsRefusedIsSaid) {
  show(deployment({.spec = R"(,"progressDeadlineSeconds":600)"}));
  sync();
  asked();
  refuse(0, Reason::Forbidden);
  EXPECT_EQ(asked(), Texts{"patch deployments/web/status"});
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_TRUE(
      events_[0].starts_with("ReplicaSetCreateError Failed to create new replica set \"web-"))
      << events_[0];
}

TEST_F(DeploymentControllerTest, AdoptsSetsThatFitAndReleasesThoseThatDoNot) {
  show(deployment({}));
  show(object(
      apps_kind("ReplicaSet"),
      R"({"metadata":{"name":"free","namespace":"ns","uid":"u-free","labels":{"app":"web"}}})"));
  show(object(
      apps_kind("ReplicaSet"),
      R"({"metadata":{"name":"astray","namespace":"ns","uid":"u-astray","labels":{"app":"db"},
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"ud","controller":true}]}})"));
  sync();
  EXPECT_EQ(asked(), (Texts{"patch replicasets/free", "patch replicasets/astray"}));
}

}  // namespace
}  // namespace muster::controllers
