#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "scheduler/half_bound.h"
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::World;

TEST(Scheduler, RequeuesAPodWhoseBindingConflicts) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.run();
  ASSERT_EQ(world.calls.size(), 1U);
  world.refuse(world.calls[0].ticket, Reason::Conflict);
  world.calls.pop_front();
  world.run();
  EXPECT_EQ(world.scheduler.numbers().backoff, 1U);
  EXPECT_EQ(world.scheduler.numbers().errors, 1U);
  const auto patches = world.requests("p/status");
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_NE(patches[0].find(
                R"("reason":"SchedulerError","message":"running Bind plugin \"DefaultBinder\": )"),
            std::string::npos)
      << patches[0];
  ASSERT_TRUE(world.scheduler.next_deadline());
  world.answer();
  world.now = *world.scheduler.next_deadline();
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1") << "the room it had assumed was free again";
}

// On a server without GroupBindings.
TEST(Scheduler, AGangBoundOneByOneIsFinishedAfterARefusal) {
  World world;
  world.synced();
  for (const char* name : {"n1", "n2", "n3"}) world.node(name, {.cpu = "1"});
  world.gang("g", 3);
  for (const char* name : {"a", "b", "c"}) world.pod(name, {.group = "g"});
  world.run();
  const auto second = std::ranges::find(world.calls, "b", [](const World::Call& call) {
    return call.request.subresource == "binding" ? call.request.name : "";
  });
  ASSERT_NE(second, world.calls.end());
  const std::uint64_t ticket = second->ticket;
  world.calls.erase(second);
  world.refuse(ticket, Reason::Conflict);
  world.answer();
  EXPECT_EQ(world.node_of("b"), "");
  EXPECT_NE(world.node_of("a"), "");
  world.now += seconds{30};
  world.settle();
  EXPECT_NE(world.node_of("b"), "");
  world.log.clear();
  world.now += minutes{5};
  world.settle();
  EXPECT_TRUE(world.requests("of the 3 pods that it needs are bound").empty());
}

TEST(Scheduler, AGangThatStaysHalfBoundIsReported) {
  World world;
  world.synced();
  for (const char* name : {"n1", "n2"}) world.node(name, {.cpu = "1"});
  world.gang("g", 2);
  for (const char* name : {"a", "b"}) world.pod(name, {.group = "g"});
  world.run();
  // Somebody else fills the node while its binding is refused.
  const auto binding = std::ranges::find(
      world.calls, "binding", [](const World::Call& call) { return call.request.subresource; });
  ASSERT_NE(binding, world.calls.end());
  const World::Call call = std::move(*binding);
  world.calls.erase(binding);
  const std::string node(api::find_string(*api::find(call.request.body, "target"), "name"));
  world.pod("thief", {.scheduler = "other", .node = node});
  world.refuse(call.ticket, Reason::Conflict);
  world.settle();
  EXPECT_TRUE(world.requests("of the 2 pods that it needs are bound").empty());
  world.now += HalfBound::kPatience + seconds{1};
  world.settle();
  const auto events = world.requests("only 1 of the 2 pods that it needs are bound");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].find("refused with Conflict"), std::string::npos) << events[0];
  world.delete_pod("thief");
  world.now += minutes{1};
  world.settle();
  EXPECT_NE(world.node_of(call.request.name), "");
}

TEST(Scheduler, DropsAPodThatSomebodyElseBound) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.node("n2", {.cpu = "1"});
  world.pod("p");
  world.run();
  ASSERT_EQ(world.calls.size(), 1U);
  const std::string ours(
      api::find_string(*api::find(world.calls[0].request.body, "target"), "name"));
  const std::string other = ours == "n1" ? "n2" : "n1";
  world.pod("p", {.node = other});
  world.answer();  // refuses: it has a node
  world.pod("q");
  world.settle();
  EXPECT_EQ(world.node_of("q"), ours) << "the room we had assumed is free";
  EXPECT_EQ(world.scheduler.numbers().errors, 0U);
}

TEST(Scheduler, WakesOthersWhenABindingLeavesItsRoom) {
  for (const bool bound_elsewhere : {false, true}) {
    World world;
    world.synced();
    world.node("n1", {.cpu = "1"});
    world.pod("p");
    world.pod("q");
    world.run();
    ASSERT_EQ(world.requests("binding").size(), 1U);
    EXPECT_EQ(world.scheduler.numbers().unschedulable_now, 1U);
    if (bound_elsewhere) {
      world.pod("p", {.node = "n2"});
    } else {
      world.refuse(world.calls[0].ticket, Reason::Conflict);
      world.calls.pop_front();
    }
    world.settle();
    EXPECT_EQ(world.node_of("q"), "n1");
  }
}

TEST(Scheduler, FreesTheRoomOfAPodThatIsDeletedWhileItIsBound) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.pod("q");
  world.run();
  ASSERT_EQ(world.requests("binding").size(), 1U);
  world.delete_pod("p");
  world.settle();
  EXPECT_EQ(world.node_of("q"), "n1");
  EXPECT_EQ(world.scheduler.numbers().scheduled, 1U);
}

TEST(Scheduler, AsksABusyServerAgain) {
  World world;
  world.synced();
  world.node("n1");
  world.pod("p");
  world.run();
  world.refuse(world.calls[0].ticket, Reason::ServiceUnavailable);
  world.calls.clear();
  ASSERT_TRUE(world.scheduler.next_deadline());
  world.now = *world.scheduler.next_deadline();
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
  EXPECT_EQ(world.scheduler.numbers().errors, 0U);
}

TEST(Scheduler, DecidesNothingBeforeTheFirstListingIsComplete) {
  World world;
  world.node("n1");
  world.pod("p");
  world.run();
  EXPECT_TRUE(world.log.empty());
  EXPECT_FALSE(world.scheduler.next_deadline());
  world.synced();
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
}

TEST(Scheduler, WhatWasToBeSaidOfAPodIsNotSaidOnceItIsPlaced) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p", {.cpu = "2"});
  world.run();
  ASSERT_EQ(world.requests("pods/ns/p/status").size(), 1U);
  world.node("n2", {.taint = "t"});
  world.now += std::chrono::seconds{2};
  world.run();
  EXPECT_EQ(world.scheduler.numbers().unschedulable, 2U) << "for another reason, to be told later";
  EXPECT_EQ(world.requests("pods/ns/p/status").size(), 1U) << "the first is on its way";
  world.node("n3");
  world.now += std::chrono::seconds{5};
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n3");
  EXPECT_EQ(world.requests("pods/ns/p/status").size(), 1U);
}

TEST(Scheduler, PausesWhileTheServerIsBehind) {
  World world({.binds_in_flight_max = 2});
  world.synced();
  world.node("n1", {.cpu = "16"});
  for (const char* name : {"a", "b", "c"}) world.pod(name);
  world.run();
  EXPECT_EQ(world.requests("binding").size(), 2U);
  EXPECT_EQ(world.scheduler.numbers().active, 1U);
  EXPECT_NE(world.scheduler.next_deadline(), world.now) << "it waits for an answer";
  world.settle();
  EXPECT_EQ(world.node_of("c"), "n1");
}

}  // namespace
}  // namespace muster::scheduler
