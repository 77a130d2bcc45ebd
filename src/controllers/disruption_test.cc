#include "controllers/disruption.h"

#include <fmt/format.h>

#include <memory>

#include "api/views/pod_view.h"
#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

class DisruptionTest : public ::testing::Test {
 protected:
  struct Pod {
    std::string_view name;
    bool ready = true;
    std::string_view owner = {};     // kind of its controller, "" for none; uid is "u"
    std::string_view metadata = {};  // more members
  };

  void tell(Type type, const api::Kind& kind, std::string_view json) {
    auto made = api::Object::make(kind, api::parse_json(json)->value);
    made->assign_revision({++revision_});
    disruption_.apply(client::Event{.type = type, .object = std::move(made)}, now_);
  }
  void pod(Type type, const Pod& pod) {
    const std::string owner =
        pod.owner.empty()
            ? ""
            : fmt::format(
                  R"(,"ownerReferences":[{{"kind":"{}","name":"o","uid":"u","apiVersion":"apps/v1","controller":true}}])",
                  pod.owner);
    tell(type, api::kinds::pod(),
         fmt::format(
             R"({{"metadata":{{"name":"{}","namespace":"n","labels":{{"app":"web"}}{}{}{}}},)"
             R"("status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
             pod.name, owner, pod.metadata.empty() ? "" : ",", pod.metadata,
             pod.ready ? "True" : "False"));
  }
  void budget(std::string_view spec, std::string_view status = "{}") {
    tell(Type::Added, *api::find_kind("policy", "PodDisruptionBudget"),
         fmt::format(R"({{"metadata":{{"name":"b","namespace":"n","generation":1}},"spec":{{{},)"
                     R"("selector":{{"matchLabels":{{"app":"web"}}}}}},"status":{}}})",
                     spec, status));
  }
  // "allowed/healthy/desired/expected" of the next status that is written; "" if none is.
  std::string written() {
    const std::size_t before = sent_.requests.size();
    while (disruption_.run_once(now_, 100) > 0) {
    }
    if (sent_.requests.size() == before) return "";
    const api::Json& status =
        sent_.requests.back().first.body.get_array().at(1).get_object().at("value");
    const auto number = [&](std::string_view member) {
      return status.get_object().at(member).get_int64();
    };
    last_ = api::to_text(status);
    return fmt::format("{}/{}/{}/{}", number("disruptionsAllowed"), number("currentHealthy"),
                       number("desiredHealthy"), number("expectedPods"));
  }

  std::int64_t revision_ = 0;
  std::string last_;
  Time now_ = *parse_time("2026-05-01T10:00:00Z");
  Sent sent_;
  Disruption disruption_{sent_.context()};
};

TEST_F(DisruptionTest, CountsHealthyPodsAgainstAMinimum) {
  for (const std::string_view name : {"a", "b", "c"}) pod(Type::Added, {.name = name});
  pod(Type::Added, {.name = "sick", .ready = false});
  pod(Type::Added,
      {.name = "leaving", .metadata = R"("deletionTimestamp":"2026-05-01T09:00:00Z")"});
  budget(R"("minAvailable":2)");
  EXPECT_EQ(written(), "");
  disruption_.apply(client::Synced{}, now_);
  EXPECT_EQ(written(), "1/3/2/5");
  EXPECT_NE(last_.find(R"("type":"DisruptionAllowed","status":"True")"), std::string::npos);
}

TEST_F(DisruptionTest, SharesAreOfWhatTheirMakersWant) {
  disruption_.apply(client::Synced{}, now_);
  tell(Type::Added, *api::find_kind("apps", "ReplicaSet"),
       R"({"metadata":{"name":"o","namespace":"n","uid":"u"},"spec":{"replicas":5}})");
  for (const std::string_view name : {"a", "b", "c"})
    pod(Type::Added, {.name = name, .owner = "ReplicaSet"});
  budget(R"("maxUnavailable":"50%")");
  EXPECT_EQ(written(), "1/3/2/5");
}

TEST_F(DisruptionTest, MakersThatDoNotSayCountByTheirPods) {
  disruption_.apply(client::Synced{}, now_);
  for (const std::string_view name : {"a", "b", "c"})
    pod(Type::Added, {.name = name, .owner = "Job"});
  budget(R"("maxUnavailable":1)");
  EXPECT_EQ(written(), "1/3/2/3");
}

// While it rolls out a new template its pods have two makers, and it wants them once.
TEST_F(DisruptionTest, ADeploymentCountsOnce) {
  disruption_.apply(client::Synced{}, now_);
  tell(Type::Added, *api::find_kind("apps", "Deployment"),
       R"({"metadata":{"name":"d","namespace":"n","uid":"ud"},"spec":{"replicas":4}})");
  for (const std::string_view uid : {"u", "u2"})
    tell(Type::Added, *api::find_kind("apps", "ReplicaSet"),
         fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"{0}","ownerReferences":)"
                     R"([{{"kind":"Deployment","name":"d","uid":"ud","apiVersion":"apps/v1",)"
                     R"("controller":true}}]}},"spec":{{"replicas":3}}}})",
                     uid));
  for (const std::string_view name : {"a", "b", "c"})
    pod(Type::Added, {.name = name, .owner = "ReplicaSet"});
  pod(Type::Added,
      {.name = "new",
       .metadata =
           R"("ownerReferences":[{"kind":"ReplicaSet","name":"u2","uid":"u2","apiVersion":"apps/v1","controller":true}])"});
  budget(R"("maxUnavailable":1)");
  EXPECT_EQ(written(), "1/4/3/4");
  tell(Type::Modified, *api::find_kind("apps", "Deployment"),
       R"({"metadata":{"name":"d","namespace":"n","uid":"ud"},"spec":{"replicas":5}})");
  disruption_.apply(
      client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  EXPECT_EQ(written(), "0/4/4/5");
}

// What an owner says of itself in its status is no reason to look at budgets.
TEST_F(DisruptionTest, LooksAtBudgetsWhenAnOwnerWantsSomethingElse) {
  disruption_.apply(client::Synced{}, now_);
  const auto owner = [&](int generation, int replicas, int ready) {
    tell(Type::Modified, *api::find_kind("apps", "ReplicaSet"),
         fmt::format(R"({{"metadata":{{"name":"o","namespace":"n","uid":"u","generation":{}}},)"
                     R"("spec":{{"replicas":{}}},"status":{{"readyReplicas":{}}}}})",
                     generation, replicas, ready));
  };
  owner(1, 5, 0);
  budget(R"("maxUnavailable":1)");
  pod(Type::Added, {.name = "a", .owner = "ReplicaSet"});
  written();
  owner(1, 5, 1);
  EXPECT_EQ(disruption_.run_once(now_, 100), 0U);
  owner(2, 6, 1);
  EXPECT_GT(disruption_.run_once(now_, 100), 0U);
}

TEST_F(DisruptionTest, PodsOfNamespacesWithoutBudgetsCostNothing) {
  disruption_.apply(client::Synced{}, now_);
  for (const std::string_view name : {"a", "b", "c"}) pod(Type::Added, {.name = name});
  EXPECT_EQ(disruption_.run_once(now_, 100), 0U);
}

TEST_F(DisruptionTest, AnAllowedEvictionCountsUntilItIsSeen) {
  disruption_.apply(client::Synced{}, now_);
  for (const std::string_view name : {"a", "b", "c"}) pod(Type::Added, {.name = name});
  budget(
      R"("minAvailable":1)",
      R"({"disruptionsAllowed":1,"disruptedPods":{"a":"2026-05-01T09:59:00Z","gone":"2026-05-01T09:59:00Z"}})");
  EXPECT_EQ(written(), "1/2/1/3");
  EXPECT_NE(last_.find(R"("disruptedPods":{"a":"2026-05-01T09:59:00Z"})"), std::string::npos);
  // After two minutes it is given up.
  budget(
      R"("minAvailable":1)",
      R"({"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":3,"disruptedPods":{"a":"2026-05-01T09:59:00Z"}})");
  disruption_.apply(
      client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  EXPECT_EQ(written(), "");
  ASSERT_EQ(disruption_.next_deadline(), parse_time("2026-05-01T10:01:00Z"));
  now_ = *disruption_.next_deadline();
  EXPECT_EQ(written(), "2/3/1/3");
}

TEST_F(DisruptionTest, AnEvictionIsSeenOnceItsPodIsLeaving) {
  disruption_.apply(client::Synced{}, now_);
  for (const std::string_view name : {"b", "c"}) pod(Type::Added, {.name = name});
  pod(Type::Added, {.name = "a", .metadata = R"("deletionTimestamp":"2026-05-01T10:00:30Z")"});
  budget(R"("minAvailable":1)",
         R"({"disruptionsAllowed":1,"disruptedPods":{"a":"2026-05-01T09:59:00Z"}})");
  EXPECT_EQ(written(), "1/2/1/3");
  EXPECT_NE(last_.find(R"("disruptedPods":{},)"), std::string::npos) << last_;
}

// However many budgets select a pod, its document is parsed once, for its view: one that says
// something else shows who is asked.
TEST_F(DisruptionTest, ReadinessIsReadFromTheView) {
  disruption_.apply(client::Synced{}, now_);
  auto sick = api::Object::make(
      api::kinds::pod(),
      api::parse_json(R"({"metadata":{"name":"a","namespace":"n","labels":{"app":"web"}},)"
                      R"("status":{"conditions":[{"type":"Ready","status":"False"}]}})")
          ->value);
  auto view = std::make_unique<api::PodView>();
  view->conditions.push_back({.type = "Ready", .status = "True", .reason = "", .message = ""});
  sick->set_view(std::move(view));
  disruption_.apply(client::Event{.type = Type::Added, .object = std::move(sick)}, now_);
  budget(R"("minAvailable":0)");
  EXPECT_EQ(written(), "1/1/0/1");
}

TEST_F(DisruptionTest, ATruthfulStatusIsLeftAlone) {
  disruption_.apply(client::Synced{}, now_);
  pod(Type::Added, {.name = "a"});
  budget(R"("minAvailable":1)",
         R"({"observedGeneration":1,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1})");
  EXPECT_EQ(written(), "");
  pod(Type::Deleted, {.name = "a"});
  EXPECT_EQ(written(), "0/0/1/0");
}

}  // namespace
}  // namespace muster::controllers
