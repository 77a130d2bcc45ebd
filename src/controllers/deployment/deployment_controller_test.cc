#include "controllers/deployment/deployment_controller.h"

#include <gtest/gtest.h>

#include "api/views/controller_revision_view.h"
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

TEST_F(DeploymentControllerTest, TheDocumentOfASetIsMadeFromTheDeployment) {
  show(deployment(
      {.replicas = 2, .spec = R"(,"minReadySeconds":5)", .annotations = R"("why":"because")"}));
  sync();
  asked();
  const std::string name(api::find_string(*api::find_path(body(0), "metadata"), "name"));
  EXPECT_EQ(
      api::sorted_text(body(0)),
      fmt::format(
          R"({{"metadata":{{"annotations":{{"deployment.kubernetes.io/desired-replicas":"2",)"
          R"("deployment.kubernetes.io/max-replicas":"3","deployment.kubernetes.io/revision":"1",)"
          R"("why":"because"}},"labels":{{"app":"web","pod-template-hash":"{0}"}},"name":"web-{0}",)"
          R"("namespace":"ns","ownerReferences":[{{"apiVersion":"apps/v1","blockOwnerDeletion":true,)"
          R"("controller":true,"kind":"Deployment","name":"web","uid":"ud"}}]}},"spec":{{)"
          R"("minReadySeconds":5,"replicas":2,"selector":{{"matchLabels":{{"app":"web",)"
          R"("pod-template-hash":"{0}"}}}},"template":{{"metadata":{{"labels":{{"app":"web",)"
          R"("pod-template-hash":"{0}"}}}},"spec":{{"containers":[{{"image":"v1","name":"c",)"
          R"("resources":{{}}}}]}}}}}}}})",
          name.substr(4)));
}

TEST_F(DeploymentControllerTest, WhatIsChangedAboutASetIsAskedForAndNothingElse) {
  show(deployment({.spec = R"(,"minReadySeconds":7)",
                   .annotations = R"("why":"because","deployment.kubernetes.io/revision":"1")"}));
  const auto before = set({.name = "a", .available = 3, .annotations = sized(3, 4)});
  show(before);
  sync();
  EXPECT_EQ(asked(), (Texts{"patch replicasets/a", "patch deployments/web/status"}));
  EXPECT_EQ(
      api::to_text(body(0)),
      R"({"metadata":{"uid":"u-a","annotations":{"why":"because"}},"spec":{"minReadySeconds":7}})");
  answer(0, set({.name = "a"}));
  asked();
  EXPECT_EQ(events_, Texts{}) << "its size is what it was";
}

TEST_F(DeploymentControllerTest, AChangeThatIsRefusedIsNoEventAndTriedAgain) {
  show(deployment({.replicas = 5, .annotations = R"("deployment.kubernetes.io/revision":"1")"}));
  show(set({.name = "a", .available = 3, .annotations = sized(3, 4)}));
  sync();
  EXPECT_EQ(asked().front(), "patch replicasets/a");
  refuse(0, Reason::Conflict);
  answer(1, deployment({.replicas = 5}));
  asked();
  EXPECT_EQ(events_, Texts{});
  show(deployment({.replicas = 5, .annotations = R"("deployment.kubernetes.io/revision":"1")"}));
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked().front(), "patch replicasets/a");
  answer(2, set({.name = "a", .replicas = 5}));
  asked();
  EXPECT_EQ(events_, Texts{"ScalingReplicaSet Scaled up replica set a from 3 to 5"});
}

TEST_F(DeploymentControllerTest, HistoryBeyondItsLimitIsDeleted) {
  show(deployment(
      {.image = "v2",
       .spec = R"(,"revisionHistoryLimit":0)",
       .annotations = R"("deployment.kubernetes.io/revision":"2")",
       .status =
           R"({"observedGeneration":1,"replicas":3,"updatedReplicas":3,"availableReplicas":3})"}));
  show(set({.name = "old", .replicas = 0, .annotations = sized(3, 4)}));
  show(set({.name = "new", .image = "v2", .available = 3, .annotations = sized(3, 4, 2)}));
  sync();
  EXPECT_EQ(asked(), (Texts{"delete replicasets/old", "patch deployments/web/status"}));
}

TEST_F(DeploymentControllerTest, ADeadlineThatPassesIsSaidAlthoughNothingHappens) {
  const auto waits = [&](std::string_view conditions) {
    return deployment(
        {.spec = std::string(kDeadline),
         .annotations = R"("deployment.kubernetes.io/revision":"1")",
         .status = fmt::format(
             R"({{"observedGeneration":1,"replicas":3,"updatedReplicas":3,"unavailableReplicas":3,
                 "terminatingReplicas":0,"conditions":[{}]}})",
             conditions)});
  };
  show(waits(
      R"({"type":"Progressing","status":"True","reason":"NewReplicaSetCreated",
          "message":"Created new replica set \"a\"","lastUpdateTime":"2026-01-01T00:00:00Z",
          "lastTransitionTime":"2026-01-01T00:00:00Z"},
         {"type":"Available","status":"False","reason":"MinimumReplicasUnavailable",
          "message":"Deployment does not have minimum availability.",
          "lastUpdateTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"})"));
  show(set({.name = "a", .annotations = sized(3, 4)}));
  sync();
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::seconds{600};
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked(), Texts{"patch deployments/web/status"});
  EXPECT_NE(api::to_text(body(0)).find("ProgressDeadlineExceeded"), std::string::npos);
}

TEST_F(DeploymentControllerTest, ASetThatIsGoneOrTakenAwayIsMadeAgain) {
  show(deployment({.annotations = R"("deployment.kubernetes.io/revision":"1")"}));
  const auto a = set({.name = "a", .available = 3, .annotations = sized(3, 4)});
  show(a);
  sync();
  EXPECT_EQ(asked(), Texts{"patch deployments/web/status"});
  const auto written = deployment({.annotations = R"("deployment.kubernetes.io/revision":"1")"});
  answer(0, written);
  show(written);
  show(a, Type::Deleted);
  EXPECT_EQ(asked().front(), "create replicasets");
}

TEST_F(DeploymentControllerTest, ASetThatComesFreeIsAdopted) {
  show(
      deployment({.annotations = R"("deployment.kubernetes.io/revision":"1")",
                  .status =
                      R"({"observedGeneration":1,"replicas":3,"updatedReplicas":3,"readyReplicas":3,
               "availableReplicas":3,"terminatingReplicas":0,"conditions":[{"type":"Available",
               "status":"True","reason":"MinimumReplicasAvailable"}]})"}));
  show(set({.name = "a", .available = 3, .annotations = sized(3, 4)}));
  sync();
  EXPECT_EQ(asked(), Texts{});
  show(object(
      apps_kind("ReplicaSet"),
      R"({"metadata":{"name":"free","namespace":"ns","uid":"u-free","labels":{"app":"web"}}})"));
  EXPECT_EQ(asked(), Texts{"patch replicasets/free"});
  EXPECT_EQ(
      api::to_text(body(0)),
      R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web",)"
      R"("uid":"ud","controller":true,"blockOwnerDeletion":true}],"uid":"u-free"}})");
}

TEST_F(DeploymentControllerTest, ANameThatItsOwnSetOfAnotherTemplateHasIsACollision) {
  show(deployment({.status = R"({"collisionCount":4})"}));
  sync();
  ASSERT_EQ(asked(), (Texts{"create replicasets", "patch deployments/web/status"}));
  const std::string name(api::find_string(*api::find_path(body(0), "metadata"), "name"));
  show(set({.name = name, .image = "v0", .annotations = sized(3, 4)}));
  refuse(0, Reason::AlreadyExists);
  ASSERT_EQ(asked(), Texts{"patch deployments/web/status"});
  EXPECT_EQ(api::find_integer(*api::find_path(body(2).as_array()[1], "value"), "collisionCount"),
            5);
}

TEST_F(DeploymentControllerTest, ANameThatItsOwnSetOfTheTemplateHasIsNoCollision) {
  show(deployment({.status = R"({"collisionCount":4})"}));
  sync();
  ASSERT_EQ(asked(), (Texts{"create replicasets", "patch deployments/web/status"}));
  const std::string name(api::find_string(*api::find_path(body(0), "metadata"), "name"));
  refuse(0, Reason::AlreadyExists);
  EXPECT_EQ(asked(), Texts{}) << "the feed has yet to show whose it is";
  refuse(1, Reason::NotFound);
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked(), (Texts{"create replicasets", "patch deployments/web/status"}));
  show(set({.name = name, .annotations = sized(3, 4)}));
  refuse(2, Reason::AlreadyExists);
  EXPECT_EQ(asked(), Texts{}) << "it is there";
}

TEST_F(DeploymentControllerTest, GoesOnOnceTheFeedShowsWhatItChanged) {
  show(deployment({.replicas = 5, .annotations = R"("deployment.kubernetes.io/revision":"1")"}));
  show(set({.name = "a", .available = 3, .annotations = sized(3, 4)}));
  sync();
  EXPECT_EQ(asked(), (Texts{"patch replicasets/a", "patch deployments/web/status"}));
  const auto grown = set({.name = "a", .replicas = 5, .available = 3, .annotations = sized(5, 7)});
  answer(0, grown);
  refuse(1, Reason::NotFound);
  EXPECT_EQ(asked(), Texts{}) << "it has not been shown yet";
  show(grown);
  EXPECT_EQ(asked(), Texts{"patch deployments/web/status"});
}

TEST_F(DeploymentControllerTest, NothingIsSaidOfAFailureInANamespaceThatEnds) {
  show(deployment({.spec = std::string(kDeadline)}));
  sync();
  ASSERT_EQ(asked(), (Texts{"create replicasets", "patch deployments/web/status"}));
  Error error = make_error(Reason::Forbidden, "no");
  error.causes.push_back({.type = "NamespaceTerminating", .field = "", .message = ""});
  controller_.apply(client::Called{sent_[calls_.at(0)].second, fail(error)}, now_);
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(events_, Texts{});
}

TEST_F(DeploymentControllerTest, WithoutADeadlineAFailureIsAnEventOnly) {
  show(deployment({}));
  sync();
  ASSERT_EQ(asked(), (Texts{"create replicasets", "patch deployments/web/status"}));
  refuse(0, Reason::Forbidden);
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(events_.size(), 1U);
}

TEST_F(DeploymentControllerTest, OneThatSelectsEverythingDoesNothing) {
  show(object(apps_kind("Deployment"),
              R"({"metadata":{"name":"all","namespace":"ns","uid":"u"},"spec":{"replicas":3,
          "selector":{},"template":{"metadata":{"labels":{"app":"web"}},"spec":{}}}})"));
  sync();
  EXPECT_EQ(asked(), Texts{});
}

}  // namespace
}  // namespace muster::controllers
