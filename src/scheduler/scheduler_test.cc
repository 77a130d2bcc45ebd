#include "scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/kinds/kind.h"
#include "scheduler/plugins/plugin_registry.h"
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::seconds;
using testing::World;

TEST(Scheduler, WatchesPodsAndNodes) {
  const World world;
  const auto kinds = world.scheduler.watched_kinds();
  ASSERT_GE(kinds.size(), 2U);
  EXPECT_EQ(kinds[0], &api::kinds::pod());
  EXPECT_EQ(kinds[1], &api::kinds::node());
}

TEST(Scheduler, BindsAPodToANode) {
  World world;
  world.node("n1");
  world.pod("p");
  world.run();
  EXPECT_TRUE(world.calls.empty()) << "not before the watch has told everything";
  world.synced();
  EXPECT_EQ(world.scheduler.next_deadline(), world.now);
  world.run();
  ASSERT_EQ(world.requests("binding").size(), 1U);
  EXPECT_EQ(world.requests("binding")[0],
            R"(3 pods/ns/p/binding {"metadata":{"name":"p","namespace":"ns","uid":"uid-p"},)"
            R"("target":{"kind":"Node","name":"n1"}})");
  EXPECT_EQ(world.scheduler.numbers().binding, 1U);
  world.answer();
  EXPECT_EQ(world.node_of("p"), "n1");
  EXPECT_EQ(world.requests("Successfully assigned ns/p to n1").size(), 1U);
  const Scheduler::Numbers numbers = world.scheduler.numbers();
  EXPECT_EQ(numbers.scheduled, 1U);
  EXPECT_EQ(numbers.attempts, 1U);
  EXPECT_EQ(numbers.binding, 0U);
  EXPECT_EQ(world.scheduler.next_deadline(), std::nullopt);
}

TEST(Scheduler, PodsThatCameBeforeTheNodesAreBoundWhenANodeJoins) {
  World world;
  world.synced();
  world.pod("a");
  world.pod("b");
  world.settle();
  ASSERT_EQ(world.requests("status").size(), 2U);
  EXPECT_NE(world.requests("status")[0].find(
                R"("reason":"Unschedulable","message":"no nodes available to schedule pods")"),
            std::string::npos);
  EXPECT_EQ(world.scheduler.numbers().unschedulable_now, 2U);
  world.node("n1");
  world.settle();
  EXPECT_EQ(world.node_of("a"), "n1");
  EXPECT_EQ(world.node_of("b"), "n1");
}

TEST(Scheduler, SaysWhyAPodWaitsAndTriesAgainWhenRoomIsMade) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("first");
  world.settle();
  world.pod("second");
  world.settle();
  EXPECT_EQ(world.node_of("second"), "");
  const auto patches = world.requests("second/status");
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_NE(patches[0].find(R"("type":"PodScheduled","observedGeneration":1,"status":"False")"),
            std::string::npos)
      << patches[0];
  EXPECT_NE(patches[0].find("0/1 nodes are available: 1 Insufficient cpu."), std::string::npos)
      << patches[0];
  EXPECT_EQ(world.requests("FailedScheduling").size(), 1U);
  EXPECT_EQ(world.scheduler.numbers().unschedulable, 1U);

  world.node("n1", {.cpu = "1", .label = "changed"});
  world.run();
  EXPECT_EQ(world.scheduler.numbers().attempts, 2U) << "a label cannot help";
  world.delete_pod("first");
  world.settle();
  EXPECT_EQ(world.node_of("second"), "n1");
}

TEST(Scheduler, WakesPodsWhenANodeIsUncordoned) {
  World world;
  world.synced();
  world.node("n1", {.cordoned = true});
  world.pod("p");
  world.settle();
  EXPECT_EQ(world.node_of("p"), "");
  EXPECT_EQ(world.requests("1 node(s) were unschedulable").size(), 2U)
      << "the condition and the event";
  world.node("n1", {.cordoned = false});
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
}

TEST(Scheduler, HoldsGatedPodsBackInSilence) {
  World world;
  world.synced();
  world.node("n1");
  world.pod("p", {.gate = "wait"});
  world.settle();
  EXPECT_TRUE(world.log.empty());
  EXPECT_EQ(world.scheduler.numbers().gated, 1U);
  world.pod("p");
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
}

TEST(Scheduler, LeavesThePodsOfOtherSchedulersAlone) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("theirs", {.scheduler = "other"});
  world.settle();
  EXPECT_TRUE(world.log.empty());
  world.pod("theirs", {.scheduler = "other", .node = "n1"});
  world.pod("ours");
  world.settle();
  EXPECT_EQ(world.node_of("ours"), "") << "but counts what they use";
}

// Two profiles: the usual one spreads, "packer" fills nodes.
SchedulerOptions two_profiles() {
  Profile packs;
  for (const RegisteredPlugin& plugin : plugin_registry()) {
    PluginArgs args;
    args.fit.strategy = AllocationStrategy::MostAllocated;
    if (plugin.name != "NodeResourcesBalancedAllocation")
      packs.add(plugin.make(args), Points::all(), plugin.weight);
  }
  SchedulerOptions options;
  options.profiles.add("packer", packs);
  return options;
}

TEST(Scheduler, EachPodIsPlacedByTheProfileItAsksFor) {
  World world(two_profiles());
  world.synced();
  world.node("n1", {.cpu = "8"});
  world.node("n2", {.cpu = "8"});
  world.pod("first", {.node = "n1"});
  world.pod("packed", {.scheduler = "packer"});
  world.pod("spread");
  world.pod("foreign", {.scheduler = "somebody-else"});
  world.settle();
  EXPECT_EQ(world.node_of("packed"), "n1");
  EXPECT_EQ(world.node_of("spread"), "n2");
  EXPECT_EQ(world.node_of("foreign"), "");
  EXPECT_EQ(world.requests(R"("reportingComponent":"packer")").size(), 1U);
  EXPECT_EQ(world.requests(R"("reportingInstance":"default-scheduler-muster")").size(), 1U);
}

TEST(Scheduler, AGangIsPlacedByTheProfileThatItsPodsAskFor) {
  World world(two_profiles());
  world.synced();
  for (const char* node : {"n1", "n2", "n3"}) world.node(node, {.cpu = "8"});
  world.pod("first", {.node = "n2"});
  world.gang("g", 2);
  world.pod("a", {.scheduler = "packer", .group = "g"});
  world.pod("b", {.scheduler = "packer", .group = "g"});
  world.settle();
  EXPECT_EQ(world.node_of("a"), "n2");
  EXPECT_EQ(world.node_of("b"), "n2");
}

TEST(Scheduler, AGangWhosePodsAskForTwoProfilesIsAnError) {
  World world(two_profiles());
  world.synced();
  world.node("n1");
  world.gang("g", 2);
  world.pod("a", {.group = "g"});
  world.pod("b", {.scheduler = "packer", .group = "g"});
  world.settle();
  EXPECT_EQ(world.node_of("a"), "");
  EXPECT_FALSE(world.requests("should have the same .spec.schedulerName set").empty());
}

TEST(Scheduler, SkipsPodsThatTerminate) {
  World world;
  world.synced();
  world.pod("p", {.terminating = true});
  world.pod("q");
  world.settle();
  world.pod("q", {.terminating = true});
  world.node("n1");
  world.settle();
  EXPECT_TRUE(world.requests("binding").empty());
  EXPECT_EQ(world.requests("skip schedule deleting pod: ns/q").size(), 1U);
}

TEST(Scheduler, NoticesThatANameChangedHands) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.settle();
  world.pod("p", {.uid = "another"});
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1") << "the old one's room is free";
}

TEST(Scheduler, FinishedPodsMakeRoom) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.pod("q");
  world.settle();
  EXPECT_EQ(world.node_of("q"), "");
  world.pod("p", {.node = "n1", .phase = "Succeeded"});
  world.settle();
  EXPECT_EQ(world.node_of("q"), "n1");
}

TEST(Scheduler, HigherPriorityGoesFirst) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("low");
  world.pod("high", {.priority = 100});
  world.settle();
  EXPECT_EQ(world.node_of("high"), "n1");
  EXPECT_EQ(world.node_of("low"), "");
}

// B9: the numbers of the group move with every deletion; the conditions of its members do not.
TEST(Scheduler, MembersOfARefusedGangSayWhatHoldsForThem) {
  World world;
  world.synced();
  for (const char* node : {"n1", "n2"}) world.node(node);
  for (int i = 0; i < 6; ++i) world.pod("web" + std::to_string(i));
  world.settle();
  world.gang("g", 3);
  for (const char* pod : {"a", "b", "c"}) world.pod(pod, {.cpu = "3", .group = "g"});
  world.settle();
  const auto said = [&world](const std::string& words) { return world.requests(words).size(); };
  EXPECT_EQ(said("this pod waits for a node"), 6U) << "a condition and an event each";
  EXPECT_EQ(said("podgroups/ns/g/status"), 1U);
  world.log.clear();
  world.now += seconds{5};
  world.delete_pod("web0");
  world.delete_pod("web1");
  world.delete_pod("web2");
  world.delete_pod("web3");
  world.settle();
  EXPECT_EQ(said("pods/ns/a/status"), 1U) << "once, to say that a node would take it now";
  EXPECT_EQ(said("this pod waits for its siblings"), 4U) << "two of them, by condition and event";
  EXPECT_EQ(said("pods/ns/c/status"), 0U) << "for the third there is still no room";
}

}  // namespace
}  // namespace muster::scheduler
