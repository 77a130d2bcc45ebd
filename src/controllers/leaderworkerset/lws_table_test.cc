#include "controllers/leaderworkerset/lws_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace muster::controllers {
namespace {

api::ObjectPtr make(const api::Kind& kind, const std::string& text) {
  const auto json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  return api::Object::make(kind, json->value);
}

struct PodText {
  std::string uid;
  std::string owner = "us";
  std::string phase = "Running";
  int restarts = 0;
  bool going = false;
};

api::ObjectPtr pod(const PodText& text) {
  return make(
      api::kinds::pod(),
      fmt::format(
          R"({{"metadata":{{"name":"p","namespace":"ns","uid":"{}","annotations":{{
      "leaderworkerset.sigs.k8s.io/size":"3"}},"ownerReferences":[{{"apiVersion":"apps/v1",
      "kind":"StatefulSet","name":"x","uid":"{}","controller":true}}]{}}},"spec":{{}},
      "status":{{"phase":"{}","containerStatuses":[{{"restartCount":{}}}]}}}})",
          text.uid, text.owner, text.going ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
          text.phase, text.restarts));
}

api::ObjectPtr workers(std::string_view uid, std::string_view leader, bool has_revision) {
  return make(*api::find_kind("apps", "StatefulSet"),
              fmt::format(R"({{"metadata":{{"name":"llm-0","namespace":"ns","uid":"{}",
      "ownerReferences":[{{"apiVersion":"v1","kind":"Pod","name":"llm-0","uid":"{}",
      "controller":true}}]}},"spec":{{"replicas":2}},"status":{{{}}}}})",
                          uid, leader, has_revision ? R"("updateRevision":"r")" : ""));
}

// A replica of a leader and two workers, all of which run.
LwsGroup whole() {
  LwsGroup group;
  group.put_leader(pod({.uid = "leader"}));
  group.put_workers(workers("workers", "leader", true));
  group.put_member(1, pod({.uid = "w1", .owner = "workers"}));
  group.put_member(2, pod({.uid = "w2", .owner = "workers"}));
  return group;
}

TEST(LwsGroup, IsWellWhileNothingIsLost) {
  LwsGroup group = whole();
  EXPECT_TRUE(group.is_complete());
  EXPECT_TRUE(group.has_started());
  EXPECT_FALSE(group.is_broken());
  EXPECT_FALSE(group.is_broken_after_start());
  group.remove_member(1, *pod({.uid = "another", .owner = "workers"}));
  group.remove_member(7, *pod({.uid = "w7", .owner = "workers"}));
  group.remove_workers(*workers("others", "leader", true));
  group.remove_leader(*pod({.uid = "another"}));
  EXPECT_TRUE(group.is_complete()) << "what went was not what it has";
  EXPECT_FALSE(group.is_broken());
}

TEST(LwsGroup, IsBrokenOnceAWorkerIsLostOrHurt) {
  LwsGroup lost = whole();
  lost.remove_member(2, *pod({.uid = "w2", .owner = "workers"}));
  EXPECT_TRUE(lost.is_broken());
  EXPECT_TRUE(lost.is_broken_after_start());
  lost.put_member(2, pod({.uid = "w3", .owner = "workers"}));
  EXPECT_TRUE(lost.is_broken()) << "the one in its place knows nothing of the others";

  LwsGroup restarted = whole();
  restarted.put_member(1, pod({.uid = "w1", .owner = "workers", .restarts = 1}));
  EXPECT_TRUE(restarted.is_broken());
  EXPECT_TRUE(restarted.is_broken_after_start());
  restarted.put_member(1, pod({.uid = "w1", .owner = "workers"}));
  EXPECT_FALSE(restarted.is_broken());

  LwsGroup going = whole();
  going.put_member(1, pod({.uid = "w1", .owner = "workers", .going = true}));
  EXPECT_TRUE(going.is_broken());

  LwsGroup leader = whole();
  leader.put_leader(pod({.uid = "leader", .restarts = 1}));
  EXPECT_TRUE(leader.is_broken());
}

TEST(LwsGroup, WhatIsLostBeforeAllRunIsNotLostAfterTheStart) {
  LwsGroup group = whole();
  group.put_member(1, pod({.uid = "w1", .owner = "workers", .phase = "Pending"}));
  EXPECT_FALSE(group.has_started());
  group.remove_member(2, *pod({.uid = "w2", .owner = "workers"}));
  EXPECT_TRUE(group.is_broken());
  EXPECT_FALSE(group.is_broken_after_start());
  LwsGroup waiting = whole();
  waiting.put_leader(pod({.uid = "leader", .phase = "Pending"}));
  EXPECT_FALSE(waiting.has_started());
}

TEST(LwsGroup, PodsOfAnEarlierReplicaSayNothing) {
  LwsGroup group = whole();
  group.put_member(1, pod({.uid = "old", .owner = "earlier", .restarts = 1}));
  EXPECT_FALSE(group.is_broken());
  group.remove_member(1, *pod({.uid = "old", .owner = "earlier"}));
  group.put_member(1, pod({.uid = "w1", .owner = "workers"}));
  EXPECT_FALSE(group.is_broken());
  group.put_workers(workers("earlier", "earlier leader", true));
  EXPECT_FALSE(group.has_own_workers());
  group.remove_workers(*workers("earlier", "earlier leader", true));
  EXPECT_FALSE(group.is_broken());
}

TEST(LwsGroup, LosesItsWorkersWithTheirSet) {
  LwsGroup group = whole();
  group.remove_workers(*workers("workers", "leader", true));
  EXPECT_TRUE(group.is_broken());
  EXPECT_TRUE(group.is_broken_after_start());
  group.put_workers(workers("next", "leader", true));
  EXPECT_FALSE(group.is_broken_after_start()) << "these are others";
}

TEST(LwsGroup, AnotherLeaderBeginsFromTheStart) {
  LwsGroup group = whole();
  group.remove_member(2, *pod({.uid = "w2", .owner = "workers"}));
  ASSERT_TRUE(group.is_broken_after_start());
  group.put_leader(pod({.uid = "leader"}));
  EXPECT_TRUE(group.is_broken_after_start()) << "the same one";
  group.put_leader(pod({.uid = "next"}));
  EXPECT_FALSE(group.is_broken_after_start());
  LwsGroup without = whole();
  without.remove_member(2, *pod({.uid = "w2", .owner = "workers"}));
  without.remove_leader(*pod({.uid = "leader"}));
  EXPECT_FALSE(without.is_broken());
  EXPECT_FALSE(without.is_complete());
}

// A pod that was gone before anybody looked is missed, unless its set has just been made.
TEST(LwsGroup, WorkersThatAreMissingAreLostUnlessTheirSetWasSeenWhenItWasNew) {
  LwsGroup seen_late;
  seen_late.put_leader(pod({.uid = "leader"}));
  seen_late.put_workers(workers("workers", "leader", true));
  seen_late.put_member(1, pod({.uid = "w1", .owner = "workers"}));
  EXPECT_TRUE(seen_late.is_broken());
  LwsGroup seen_new;
  seen_new.put_leader(pod({.uid = "leader"}));
  seen_new.put_workers(workers("workers", "leader", false));
  seen_new.put_workers(workers("workers", "leader", true));
  seen_new.put_member(1, pod({.uid = "w1", .owner = "workers"}));
  EXPECT_FALSE(seen_new.is_broken());
}

TEST(LwsTable, WhatChangedComesBeforeWhatIsLookedAtAgain) {
  using Indexes = std::vector<std::int32_t>;
  LwsTable table;
  for (const std::int32_t index : {5, 1, 3}) table.revisit(index);
  table.make_due(4);
  table.make_due(3);
  EXPECT_TRUE(table.has_revisits());
  EXPECT_EQ(table.pop_due(9), (Indexes{3, 4, 1, 5})) << "each once";
  EXPECT_FALSE(table.has_more());
  EXPECT_FALSE(table.has_revisits());
  EXPECT_EQ(table.pop_due(9), Indexes{});
}

TEST(LwsTable, ARoundGoesOnWhereItStopped) {
  using Indexes = std::vector<std::int32_t>;
  LwsTable table;
  for (const std::int32_t index : {1, 2, 3}) table.revisit(index);
  EXPECT_EQ(table.pop_due(2), (Indexes{1, 2}));
  EXPECT_TRUE(table.has_more());
  table.revisit(1);
  EXPECT_EQ(table.pop_due(2), Indexes{3}) << "the first is for the next round";
  EXPECT_FALSE(table.has_more());
  EXPECT_EQ(table.pop_due(2), Indexes{1});
  for (const std::int32_t index : {1, 2, 3}) table.make_due(index);
  EXPECT_EQ(table.pop_due(2), (Indexes{1, 2}));
  EXPECT_TRUE(table.has_more());
  EXPECT_EQ(table.pop_due(2), Indexes{3});
}

}  // namespace
}  // namespace muster::controllers
