#include <gtest/gtest.h>

#include <string>

#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::seconds;
using testing::World;

// Two nodes of four cpus and a gang of three that asks for two each.
class Trees : public ::testing::Test {
 protected:
  Trees() : world_({.group_bindings = true}) {
    world_.node("n1");
    world_.node("n2");
    world_.gang("train", 3);
    for (const char* name : {"a", "b", "c"}) world_.pod(name, {.cpu = "2", .group = "train"});
    world_.synced();
  }
  std::size_t trees_sent() { return world_.requests("groupbindings").size(); }
  int bound() {
    int count = 0;
    for (const auto& [name, pod] : world_.pods) count += pod.node.empty() ? 0 : 1;
    return count;
  }

  World world_;
};

TEST_F(Trees, AreBoundByOneRequestThatCarriesTheCondition) {
  world_.run();
  ASSERT_EQ(trees_sent(), 1U);
  EXPECT_EQ(world_.calls.size(), 1U) << "nothing else is written";
  const std::string request = world_.requests("groupbindings")[0];
  for (
      const char* part :
      {R"("root":{"kind":"PodGroup","name":"train","uid":"uid-train"})", R"("uid":"uid-a")",
       R"("uid":"uid-b")", R"("uid":"uid-c")",
       R"("condition":{"type":"PodGroupInitiallyScheduled","status":"True","reason":"Scheduled","message":""})"})
    EXPECT_NE(request.find(part), std::string::npos) << part << "\n" << request;
  EXPECT_EQ(world_.scheduler.numbers().binding, 3U);
  world_.answer();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(world_.scheduler.numbers().scheduled, 3U);
  EXPECT_EQ(world_.scheduler.numbers().binding, 0U);
  EXPECT_TRUE(world_.requests("/binding ").empty());
  EXPECT_EQ(world_.requests("Successfully assigned").size(), 3U);
  EXPECT_EQ(world_.requests("Successfully placed the pods that it needs").size(), 1U);
}

// A change at the top of a large tree is told to its groups as fast as their namespace may, and
// only if it still holds then.
TEST(InvalidTrees, AreReportedInSteps) {
  World world;
  world.synced();
  const auto put = [&](const api::Kind& kind, const std::string& name, const std::string& spec,
                       client::Event::Type type = client::Event::Type::Added) {
    const auto document = api::parse_json(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"uid-{0}"}},"spec":{{"schedulingPolicy":{{"basic":{{}}}},"workloadRef":{{"templateName":"t",{1}}}}},"status":{{}}}})",
        name, spec));
    world.scheduler.apply(client::Event{type, api::Object::make(kind, document->value)}, world.now);
  };
  constexpr int kLeaves = 600;
  for (int i = 0; i < kLeaves; ++i)
    put(api::kinds::pod_group(), fmt::format("leaf-{}", i),
        R"("workloadName":"w"},"parentCompositePodGroupName":"c","x":{)");
  const auto settle = [&world](Duration passed) {
    for (const Time end = world.now + passed; world.now <= end;
         world.now += std::chrono::milliseconds{1}) {
      world.scheduler.run_once(world.now, 1);
      world.answer();
    }
  };
  settle(seconds{1});
  EXPECT_TRUE(world.log.empty());
  put(api::kinds::composite_pod_group(), "c", R"("workloadName":"v")");
  settle(std::chrono::milliseconds{20});
  const std::size_t first = world.requests("Invalid").size();
  EXPECT_GT(first, 0U);
  EXPECT_LE(first, 256U + 20U * 4U + 4U);
  put(api::kinds::composite_pod_group(), "c", R"("workloadName":"v")",
      client::Event::Type::Deleted);
  settle(seconds{1});
  EXPECT_LE(world.requests("Invalid").size(), first + 100U) << "nobody else was told";
  world.log.clear();
  put(api::kinds::composite_pod_group(), "c", R"("workloadName":"v")");
  settle(seconds{1});
  EXPECT_EQ(world.requests("Invalid").size(), kLeaves + 1U);
}

TEST(PacedGroups, SayAnotherReasonAtOnce) {
  static constexpr std::chrono::milliseconds kBackoff{100};
  World world({.initial_backoff = kBackoff, .max_backoff = kBackoff});
  world.synced();
  world.node("n1");
  for (int i = 0; i < 8; ++i) world.pod(fmt::format("p{}", i), {.group = "g"});
  const auto settle = [&world] {
    world.now += 5 * kBackoff;
    world.settle();
  };
  for (const int minimum : {5, 6, 7, 8}) {
    world.gang("g", minimum);
    settle();
  }
  EXPECT_EQ(world.requests("podgroups/ns/g/status").size(), 3U) << "the fourth number waits";
  world.pod("odd", {.priority = 7, .group = "g"});
  settle();
  const auto told = world.requests("podgroups/ns/g/status");
  ASSERT_EQ(told.size(), 4U);
  EXPECT_NE(told.back().find("SchedulerError"), std::string::npos) << told.back();
}

TEST_F(Trees, LonePodsAreStillBoundByThemselves) {
  world_.pod("web");
  world_.settle();
  EXPECT_EQ(world_.requests("pods/ns/web/binding").size(), 1U);
}

TEST_F(Trees, ARaceIsRetriedAsAWholeWithoutAWord) {
  world_.run();
  world_.delete_node("n2");  // on its way to us when we decided
  world_.node("n3");
  world_.answer();
  EXPECT_EQ(bound(), 0) << "all or nothing";
  EXPECT_EQ(world_.scheduler.numbers().binding, 0U);
  world_.settle();
  EXPECT_EQ(trees_sent(), 1U) << "backoff first";
  world_.now += seconds{2};
  world_.settle();
  EXPECT_EQ(trees_sent(), 2U);
  EXPECT_EQ(bound(), 3);
  EXPECT_TRUE(world_.requests("FailedScheduling").empty());
  EXPECT_TRUE(world_.requests("SchedulerError").empty());
}

TEST_F(Trees, WhatTheyGaveBackIsFreeForOthers) {
  world_.run();
  world_.pod("big", {.cpu = "4"});
  world_.run();
  EXPECT_TRUE(world_.requests("pods/ns/big/binding").empty()) << "no room beside the gang";
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::Conflict);
  world_.settle();
  EXPECT_EQ(world_.requests("pods/ns/big/binding").size(), 1U);
}

TEST_F(Trees, AVanishedPodTakesTheTreeBackToTheQueue) {
  world_.run();
  world_.delete_pod("b");
  world_.answer();
  EXPECT_EQ(bound(), 0);
  world_.now += seconds{30};
  world_.settle();
  EXPECT_EQ(bound(), 0) << "two of three";
  world_.pod("d", {.cpu = "2", .group = "train"});
  world_.now += seconds{2};
  world_.settle();
  EXPECT_EQ(bound(), 3);
}

TEST_F(Trees, ARefusalThatComesAgainIsTold) {
  for (int i = 1; i <= 2; ++i) {
    world_.run();
    ASSERT_EQ(trees_sent(), static_cast<std::size_t>(i));
    while (!world_.calls.empty()) {
      const World::Call call = world_.calls.front();
      world_.calls.pop_front();
      if (call.request.kind == &api::kinds::group_binding())
        world_.refuse(call.ticket, Reason::Conflict);
    }
    EXPECT_EQ(world_.requests("binding all pods together failed: refused with Conflict").empty(),
              i == 1);
    world_.now += seconds{5};
  }
  EXPECT_EQ(world_.requests(R"("involvedObject":{"kind":"PodGroup")").size(), 1U)
      << "one event about the group";
}

TEST_F(Trees, AnyOtherErrorIsToldAtOnce) {
  world_.run();
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::Forbidden);
  EXPECT_FALSE(world_.requests("binding all pods together failed: refused with Forbidden").empty());
  EXPECT_FALSE(world_.requests("podgroups/ns/train/status").empty());
}

// The fifth pod was placed in the belief that the gang is there.
TEST_F(Trees, PodsThatJoinWaitForTheGangTheyCountOn) {
  world_.run();
  world_.pod("d", {.cpu = "1", .group = "train"});
  world_.run();
  EXPECT_EQ(trees_sent(), 1U);
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::Conflict);
  EXPECT_EQ(trees_sent(), 1U) << "it falls with the gang";
  world_.now += seconds{2};
  world_.settle();
  EXPECT_EQ(bound(), 4);
}

TEST_F(Trees, ExtrasThatComeBeforeTheWatchShowsTheConditionDoNotTakeItBack) {
  world_.run();
  world_.answer();  // the binding says Scheduled; the watch has shown the pods, not yet the group
  ASSERT_EQ(bound(), 3);
  world_.pod("d", {.cpu = "16", .group = "train"});
  world_.settle();
  EXPECT_EQ(world_.requests("pods/ns/d/status").size(), 1U) << "the extra pod says why it waits";
  EXPECT_TRUE(world_.requests("podgroups/ns/train/status").empty());
}

TEST_F(Trees, AServerThatDoesNotKnowThemGetsBindings) {
  world_.run();
  const std::uint64_t ticket = world_.calls.front().ticket;
  world_.calls.pop_front();
  world_.refuse(ticket, Reason::NotFound);
  world_.settle();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(world_.requests("/binding ").size(), 3U);
  EXPECT_EQ(world_.requests("podgroups/ns/train/status").size(), 1U);
  world_.gang("more", 1);
  world_.pod("e", {.cpu = "1", .group = "more"});
  world_.settle();
  EXPECT_EQ(trees_sent(), 1U) << "and is not asked again";
  EXPECT_EQ(bound(), 4);
}

TEST_F(Trees, AFailedTreeHasAnEventOnItsGroup) {
  world_.delete_node("n2");
  world_.settle();
  EXPECT_EQ(trees_sent(), 0U);
  const auto events = world_.requests(R"("kind":"PodGroup")");
  ASSERT_FALSE(events.empty());
  EXPECT_NE(events[0].find("2 of 3 pods fit; short of 1 × cpu 2"), std::string::npos) << events[0];
}

}  // namespace
}  // namespace muster::scheduler
