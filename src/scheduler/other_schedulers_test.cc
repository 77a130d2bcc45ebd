#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/metrics.h"
#include "scheduler/scheduler_testing.h"

// What the scheduler makes of pods that somebody else binds.
namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::World;

TEST(OtherSchedulers, ABindingThatIsNotSentYetIsDroppedWhenSomebodyElseFillsItsNode) {
  Metrics metrics;
  World world({.binds_in_flight_max = 1, .metrics = &metrics});
  world.synced();
  world.node("n1", {.cpu = "2"});
  world.pod("p");
  world.pod("q");
  world.run();
  ASSERT_EQ(world.calls.size(), 1U) << "the second waits until the first is answered";
  world.pod("rival", {.scheduler = "other", .node = "n1"});
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
  EXPECT_EQ(world.node_of("q"), "");
  EXPECT_EQ(world.requests("q/binding").size(), 0U);
  EXPECT_NE(metrics.text().find(R"(muster_foreign_binds_total{served="false"} 1)"),
            std::string::npos)
      << metrics.text();
  world.delete_pod("rival");
  world.now += minutes{1};
  world.settle();
  EXPECT_EQ(world.node_of("q"), "n1");
}

TEST(OtherSchedulers, WhatWasThereBeforeIsNotCountedAsBoundByOthers) {
  Metrics metrics;
  World world({.metrics = &metrics});
  world.node("n1");
  world.pod("old", {.scheduler = "other", .node = "n1"});
  world.synced();
  world.pod("mine");
  world.settle();
  world.pod("stolen", {.gate = "wait"});
  world.pod("stolen", {.node = "n1"});
  const std::string text = metrics.text();
  EXPECT_NE(text.find(R"(muster_foreign_binds_total{served="false"} 0)"), std::string::npos);
  EXPECT_NE(text.find(R"(muster_foreign_binds_total{served="true"} 1)"), std::string::npos) << text;
}

TEST(OtherSchedulers, ANodeBeyondWhatItHasIsReportedWithinSeconds) {
  Metrics metrics;
  World world({.metrics = &metrics});
  world.synced();
  world.node("n1", {.cpu = "2"});
  for (const char* name : {"a", "b"}) world.pod(name, {.scheduler = "other", .node = "n1"});
  world.now += seconds{5};
  world.settle();
  EXPECT_TRUE(world.requests("Overcommitted").empty());
  world.pod("c", {.scheduler = "other", .node = "n1"});
  ASSERT_TRUE(world.scheduler.next_deadline());
  EXPECT_LE(*world.scheduler.next_deadline(), world.now + seconds{5});
  world.now = *world.scheduler.next_deadline();
  world.settle();
  const auto events = world.requests("pods request more than the node has: cpu 3000m of 2000m");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].find(R"("kind":"Node")"), std::string::npos) << events[0];
  EXPECT_NE(metrics.text().find("muster_overcommitted_nodes 1"), std::string::npos);

  // The kubelet refuses it: the pod has failed, and holds nothing any more.
  world.pod("c", {.scheduler = "other", .node = "n1", .phase = "Failed"});
  world.now += seconds{1};
  world.settle();
  EXPECT_NE(metrics.text().find("muster_overcommitted_nodes 0"), std::string::npos);
  EXPECT_EQ(world.requests("Overcommitted").size(), 1U) << "said once";
}

TEST(OtherSchedulers, SoIsANodeWhoseMemoryIsExceeded) {
  World world;
  world.synced();
  world.node("n1");
  for (const char* name : {"a", "b"})
    world.pod(name, {.scheduler = "other",
                     .node = "n1",
                     .spec = R"(,"resources":{"requests":{"memory":"40Gi"}})"});
  world.now += seconds{5};
  world.settle();
  EXPECT_EQ(world.requests("pods request more than the node has: memory ").size(), 1U);
}

// Pods leave and come in any order on their way here.
TEST(OtherSchedulers, ANodeThatIsCrowdedForAMomentIsNotReported) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  world.pod("a", {.scheduler = "other", .node = "n1"});
  world.pod("b", {.scheduler = "other", .node = "n1"});
  world.now += seconds{1};
  world.delete_pod("a");
  world.now += minutes{1};
  world.settle();
  EXPECT_TRUE(world.requests("Overcommitted").empty());
}

// What a node has may fall below what its pods request. It offers nothing then, and what it offers
// afterwards is counted from what it has.
TEST(OtherSchedulers, ANodeThatShrinksBelowItsPodsOffersNothing) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "4"});
  for (const char* name : {"a", "b", "c"}) world.pod(name, {.scheduler = "other", .node = "n1"});
  world.node("n1", {.cpu = "1"});
  world.pod("p");
  world.settle();
  EXPECT_EQ(world.node_of("p"), "");
  world.delete_pod("a");
  world.delete_pod("b");
  world.now += minutes{1};
  world.settle();
  EXPECT_EQ(world.node_of("p"), "") << "the third holds all there is";
  world.delete_pod("c");
  world.now += minutes{1};
  world.settle();
  EXPECT_EQ(world.node_of("p"), "n1");
  world.pod("q");
  world.settle();
  EXPECT_EQ(world.node_of("q"), "") << "there is room for one";
}

// A member that the kubelet did not admit has failed: it does not count for its gang.
TEST(OtherSchedulers, AMemberThatTheKubeletRefusesIsLost) {
  World world;
  world.synced();
  for (const char* name : {"n1", "n2", "n3"}) world.node(name, {.cpu = "1"});
  world.gang("g", 2);
  for (const char* name : {"a", "b"}) world.pod(name, {.group = "g"});
  world.settle();
  ASSERT_NE(world.node_of("b"), "");
  const std::string freed = world.node_of("b");
  world.pod("b", {.node = freed, .group = "g", .phase = "Failed"});
  world.pod("c", {.group = "g"});
  world.pod("d");
  world.settle();
  EXPECT_NE(world.node_of("c"), "") << "it takes the place in the gang";
  EXPECT_NE(world.node_of("d"), "") << "the room of the lost one is free";
}

// Pods may be listed before their nodes.
TEST(OtherSchedulers, ANodeThatIsCrowdedFromTheStartIsReported) {
  World world;
  for (const char* name : {"a", "b"}) world.pod(name, {.scheduler = "other", .node = "n1"});
  world.node("n1", {.cpu = "1"});
  world.synced();
  world.now += seconds{5};
  world.settle();
  EXPECT_EQ(world.requests("Overcommitted").size(), 1U);
}

// A user may chain any number of groups; nobody looks deeper than a tree may be.
TEST(OtherSchedulers, AChainOfGroupsCostsAStartNothing) {
  World world;
  constexpr int kLinks = 20'000;
  for (int i = 0; i < kLinks; ++i)
    world.scheduler.apply(
        client::Event{
            client::Event::Type::Added,
            testing::parse(
                *api::find_kind("scheduling.k8s.io", "CompositePodGroup"),
                fmt::format(
                    R"({{"metadata":{{"name":"c{}","namespace":"ns",
                                       "uid":"u{}"}},"spec":{{"schedulingPolicy":
                                       {{"gang":{{"minGroupCount":1}}}}{}}}}})",
                    i, i,
                    i == 0 ? "" : fmt::format(R"(,"parentCompositePodGroupName":"c{}")", i - 1)))},
        world.now);
  world.scheduler.apply(
      client::Event{client::Event::Type::Added,
                    testing::parse(api::kinds::pod_group(),
                                   fmt::format(R"({{"metadata":{{"name":"g","namespace":"ns",
                                     "uid":"g"}},"spec":{{"parentCompositePodGroupName":"c{}",
                                     "schedulingPolicy":{{"gang":{{"minCount":2}}}}}}}})",
                                               kLinks - 1))},
      world.now);
  world.node("n1");
  world.pod("a", {.node = "n1", .group = "g"});
  world.synced();
  world.settle();
  EXPECT_TRUE(world.requests("binding").empty());
}

}  // namespace
}  // namespace muster::scheduler
