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

TEST_F(DisruptionTest, SaysWhyAndSinceWhenDisruptionsAreAllowed) {
  disruption_.apply(client::Synced{}, now_);
  for (const std::string_view name : {"a", "b"}) pod(Type::Added, {.name = name});
  budget(R"("minAvailable":1)");
  written();
  EXPECT_EQ(
      api::to_text(sent_.requests.back().first.body),
      R"([{"op":"test","path":"/metadata/resourceVersion","value":"3"},{"op":"add","path":"/status","value":)"
      R"({"observedGeneration":1,"disruptedPods":{},"disruptionsAllowed":1,"currentHealthy":2,)"
      R"("desiredHealthy":1,"expectedPods":2,"conditions":[{"type":"DisruptionAllowed",)"
      R"("status":"True","observedGeneration":1,"lastTransitionTime":"2026-05-01T10:00:00Z",)"
      R"("reason":"SufficientPods","message":""}]}}])");
  disruption_.apply(
      client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  const std::string_view since_nine =
      R"({"conditions":[{"type":"Other","status":"False","lastTransitionTime":"2026-05-01T08:00:00Z"},
          {"type":"DisruptionAllowed","status":"False","lastTransitionTime":"2026-05-01T09:00:00Z"}]})";
  budget(R"("minAvailable":2)", since_nine);
  EXPECT_EQ(written(), "0/2/2/2");
  EXPECT_NE(
      last_.find(R"("status":"False","observedGeneration":1,)"
                 R"("lastTransitionTime":"2026-05-01T09:00:00Z","reason":"InsufficientPods")"),
      std::string::npos)
      << last_;
  disruption_.apply(
      client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  budget(R"("minAvailable":1)", since_nine);
  EXPECT_EQ(written(), "1/2/1/2");
  EXPECT_NE(last_.find(R"("lastTransitionTime":"2026-05-01T10:00:00Z","reason":"SufficientPods")"),
            std::string::npos)
      << last_;
}

TEST_F(DisruptionTest, WhatMustBeHealthyFollowsFromTheSpec) {
  disruption_.apply(client::Synced{}, now_);
  tell(Type::Added, *api::find_kind("apps", "ReplicaSet"),
       R"({"metadata":{"name":"o","namespace":"n","uid":"u"},"spec":{"replicas":5}})");
  for (const std::string_view name : {"a", "b", "c", "d"})
    pod(Type::Added, {.name = name, .owner = "ReplicaSet"});
  const auto of = [&](std::string_view spec) {
    if (!sent_.requests.empty())
      disruption_.apply(
          client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
    budget(spec);
    return written();
  };
  EXPECT_EQ(of(R"("minAvailable":"50%")"), "1/4/3/5") << "of what their maker wants, rounded up";
  EXPECT_EQ(of(R"("minAvailable":"40%")"), "2/4/2/5");
  EXPECT_EQ(of(R"("minAvailable":3)"), "1/4/3/4") << "of the pods there are";
  EXPECT_EQ(of(R"("minAvailable":4)"), "0/4/4/4");
  EXPECT_EQ(of(R"("minAvailable":9)"), "0/4/9/4");
  EXPECT_EQ(of(R"("minAvailable":3000000000)"), "0/4/2147483647/4");
  EXPECT_EQ(of(R"("maxUnavailable":2)"), "1/4/3/5");
  EXPECT_EQ(of(R"("maxUnavailable":7)"), "4/4/0/5") << "never below nothing";
  EXPECT_EQ(of(R"("unhealthyPodEvictionPolicy":"AlwaysAllow")"), "0/4/0/0") << "it asks nothing";
}

TEST_F(DisruptionTest, WithoutPodsNothingMayBeDisrupted) {
  disruption_.apply(client::Synced{}, now_);
  budget(R"("minAvailable":0)");
  EXPECT_EQ(written(), "0/0/0/0");
  EXPECT_NE(last_.find("InsufficientPods"), std::string::npos);
}

TEST_F(DisruptionTest, AnOwnerThatDoesNotSayWantsOneAndOneThatIsGoneNothing) {
  disruption_.apply(client::Synced{}, now_);
  const std::string_view owner = R"({"metadata":{"name":"o","namespace":"n","uid":"u"},"spec":{}})";
  tell(Type::Added, *api::find_kind("apps", "StatefulSet"), owner);
  for (const std::string_view name : {"a", "b", "c"})
    pod(Type::Added, {.name = name, .owner = "StatefulSet"});
  budget(R"("maxUnavailable":0)");
  EXPECT_EQ(written(), "2/3/1/1");
  disruption_.apply(
      client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  tell(Type::Deleted, *api::find_kind("apps", "StatefulSet"), owner);
  EXPECT_EQ(written(), "0/3/3/3") << "its pods count as they are";
}

TEST_F(DisruptionTest, ASetThatGetsADeploymentCountsAsThat) {
  disruption_.apply(client::Synced{}, now_);
  const auto set = [&](std::string_view owners) {
    tell(Type::Modified, *api::find_kind("apps", "ReplicaSet"),
         fmt::format(R"({{"metadata":{{"name":"o","namespace":"n","uid":"u","generation":1,
             "ownerReferences":[{}]}},"spec":{{"replicas":3}}}})",
                     owners));
  };
  tell(Type::Added, *api::find_kind("apps", "Deployment"),
       R"({"metadata":{"name":"d","namespace":"n","uid":"ud"},"spec":{"replicas":5}})");
  set("");
  pod(Type::Added, {.name = "a", .owner = "ReplicaSet"});
  budget(R"("maxUnavailable":1)");
  EXPECT_EQ(written(), "0/1/2/3");
  disruption_.apply(
      client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  set(R"({"kind":"Deployment","name":"d","uid":"ud","apiVersion":"apps/v1","controller":true})");
  EXPECT_EQ(written(), "0/1/4/5");
}

TEST_F(DisruptionTest, OnlyEvictionsOfHealthyPodsOfTheBudgetCount) {
  disruption_.apply(client::Synced{}, now_);
  for (const std::string_view name : {"a", "b", "c"}) pod(Type::Added, {.name = name});
  pod(Type::Added, {.name = "sick", .ready = false});
  tell(Type::Added, api::kinds::pod(),
       R"({"metadata":{"name":"other","namespace":"n","labels":{"app":"db"}},
           "status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  budget(R"("minAvailable":1)",
         R"({"disruptedPods":{"a":"2026-05-01T09:59:30Z","sick":"2026-05-01T09:59:00Z",
             "other":"2026-05-01T09:59:10Z","b":"no time"}})");
  EXPECT_EQ(written(), "1/2/1/4");
  EXPECT_EQ(disruption_.next_deadline(), parse_time("2026-05-01T10:01:00Z")) << "the first to end";
}

TEST_F(DisruptionTest, PodsOfABudgetThatIsGoneCostNothing) {
  disruption_.apply(client::Synced{}, now_);
  budget(R"("minAvailable":1)");
  written();
  tell(Type::Deleted, *api::find_kind("policy", "PodDisruptionBudget"),
       R"({"metadata":{"name":"b","namespace":"n"}})");
  disruption_.apply(
      client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  written();
  pod(Type::Added, {.name = "a"});
  EXPECT_EQ(disruption_.run_once(now_, 100), 0U);
}

TEST_F(DisruptionTest, AnyNumberThatIsNotTrueIsWritten) {
  disruption_.apply(client::Synced{}, now_);
  for (const std::string_view name : {"a", "b"}) pod(Type::Added, {.name = name});
  const auto numbers = [](int generation, int allowed, int healthy, int desired, int expected) {
    return fmt::format(
        R"({{"observedGeneration":{},"disruptionsAllowed":{},"currentHealthy":{},"desiredHealthy":{},"expectedPods":{}}})",
        generation, allowed, healthy, desired, expected);
  };
  budget(R"("minAvailable":1)", numbers(1, 1, 2, 1, 2));
  EXPECT_EQ(written(), "");
  for (const std::string& status :
       {numbers(0, 1, 2, 1, 2), numbers(1, 0, 2, 1, 2), numbers(1, 1, 1, 1, 2),
        numbers(1, 1, 2, 2, 2), numbers(1, 1, 2, 1, 1)}) {
    budget(R"("minAvailable":1)", status);
    EXPECT_EQ(written(), "1/2/1/2") << status;
    disruption_.apply(
        client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  }
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
