#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

// What a gang is told that finds room for some of its pods.
namespace muster::scheduler {
namespace {

TEST(GroupShortage, NamesTheResourceThatRunsOutFirst) {
  struct Case {
    NodeSample node;
    std::vector<PodSample> pods;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{.name = "memory", .cpu = "4", .memory = "16Gi"},
       {{.name = "a", .cpu = "1", .memory = "8Gi"},
        {.name = "b", .cpu = "1", .memory = "8Gi"},
        {.name = "c", .cpu = "1", .memory = "8Gi"}},
       "2 of 3 pods fit; short of 1 × memory 8Gi"},
      {{.name = "cpu", .cpu = "4"},
       {{.name = "a", .cpu = "1"}, {.name = "b", .cpu = "1"}, {.name = "c", .cpu = "3"}},
       "2 of 3 pods fit; short of cpu 1"},
      {{.name = "slots", .cpu = "8", .pods = 3},
       {{.name = "a", .cpu = "1"},
        {.name = "b", .cpu = "1"},
        {.name = "c", .cpu = "2"},
        {.name = "d", .cpu = "2"}},
       "3 of 4 pods fit; short of 1 pod slots"},
  };
  const Profile profile = default_profile();
  for (const Case& c : cases) {
    Cluster cluster;
    cluster.set_node(c.node.make());
    const Group gang = sample_leaf("g", static_cast<std::int32_t>(c.pods.size()), c.pods);
    EXPECT_EQ(attempt_group(gang, cluster, profile).groups.front().message,
              "pod group is unschedulable, " + c.want)
        << c.node.name;
  }
}

// One node, and a gang of equal pods of which it takes all but one.
TEST(GroupShortage, WritesAmountsAsPodsDo) {
  struct Case {
    NodeSample node;
    PodSample pod;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{.name = "cpu", .cpu = "1"}, {.name = "p", .cpu = "500m"}, "cpu 500m"},
      {{.name = "memory", .memory = "1Gi"}, {.name = "p", .memory = "512Mi"}, "memory 512Mi"},
      {{.name = "storage", .extended = {{"ephemeral-storage", "2Gi"}}},
       {.name = "p", .extended = {{"ephemeral-storage", "1Gi"}}},
       "ephemeral-storage 1Gi"},
      {{.name = "pages", .extended = {{"hugepages-2Mi", "8Mi"}}},
       {.name = "p", .extended = {{"hugepages-2Mi", "4Mi"}}},
       "hugepages-2Mi 4Mi"},
      {{.name = "devices", .extended = {{"example.com/gpu", "16"}}},
       {.name = "p", .extended = {{"example.com/gpu", "8"}}},
       "example.com/gpu 8"},
  };
  const Profile profile = default_profile();
  for (const Case& c : cases) {
    Cluster cluster;
    cluster.set_node(c.node.make());
    std::vector<PodSample> pods(3, c.pod);
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i].name += std::to_string(i);
    EXPECT_EQ(attempt_group(sample_leaf("g", 3, pods), cluster, profile).groups.front().message,
              "pod group is unschedulable, 2 of 3 pods fit; short of 1 × " + c.want)
        << c.node.name;
  }
}

class GroupShortageTest : public ::testing::Test {
 protected:
  void node(const NodeSample& sample) { cluster_.set_node(sample.make()); }
  std::string why(const Group& root) {
    return attempt_group(root, cluster_, profile_).groups.front().message;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

std::vector<PodSample> equal_pods(int count, const std::string& cpu, const std::string& memory) {
  std::vector<PodSample> pods = sample_pods("p", count, cpu);
  for (PodSample& pod : pods) pod.memory = memory;
  return pods;
}

// Each resource alone would be enough, on one node the first runs out, on the other the second.
TEST_F(GroupShortageTest, WhatIsShortOnDifferentNodesIsRoom) {
  node({.name = "n1", .cpu = "2", .memory = "8Gi"});
  node({.name = "n2", .cpu = "8", .memory = "2Gi"});
  EXPECT_EQ(why(sample_leaf("g", 5, equal_pods(5, "1", "1Gi"))),
            "pod group is unschedulable, 4 of 5 pods fit; short of room for 1");
  EXPECT_EQ(why(sample_leaf("g", 7, equal_pods(8, "1", "1Gi"))),
            "pod group is unschedulable, 4 of 7 pods fit; short of room for 3");
}

TEST_F(GroupShortageTest, JustEnoughOfEachResourceIsNotShort) {
  node({.name = "n1", .cpu = "1", .memory = "4Gi"});
  node({.name = "n2", .cpu = "4", .memory = "1Gi"});
  EXPECT_EQ(why(sample_leaf("g", 5, equal_pods(5, "1", "1Gi"))),
            "pod group is unschedulable, 2 of 5 pods fit; short of room for 3");
}

TEST_F(GroupShortageTest, NodesThatRefuseForAnotherReasonAreTheRest) {
  node({.name = "n1"});
  node({.name = "n2", .taints = R"([{"key":"k","effect":"NoSchedule"}])"});
  node({.name = "n3", .unschedulable = true});
  EXPECT_EQ(why(sample_leaf("g", 5, sample_pods("p", 5, "1"))),
            "pod group is unschedulable, 4 of 5 pods fit; on the rest of its nodes: 1 node(s) had "
            "untolerated taint(s), 1 node(s) were unschedulable");
  EXPECT_EQ(why(sample_leaf("g", 13, sample_pods("p", 13, "1"))),
            "pod group is unschedulable, 4 of 13 pods fit; short of 9 × cpu 1")
      << "those nodes would not be enough either";
}

TEST_F(GroupShortageTest, AnOvercommittedNodeTakesNothingFromTheOthers) {
  node({.name = "n1", .cpu = "7", .memory = "6Gi"});
  node({.name = "n2", .cpu = "4", .memory = "100Mi"});
  cluster_.set_pod(PodSample{.name = "u", .cpu = "8", .node_name = "n2"}.make());
  EXPECT_EQ(why(sample_leaf("g", 7, equal_pods(7, "1", "1Gi"))),
            "pod group is unschedulable, 6 of 7 pods fit; short of 1 × memory 1Gi");
}

TEST_F(GroupShortageTest, TheScarcestResourceIsNamed) {
  node({.name = "n", .cpu = "3", .memory = "2Gi"});
  EXPECT_EQ(why(sample_leaf("g", 4, equal_pods(4, "1", "1Gi"))),
            "pod group is unschedulable, 2 of 4 pods fit; short of 2 × memory 1Gi");
  node({.name = "n", .cpu = "2", .memory = "3Gi"});
  EXPECT_EQ(why(sample_leaf("g", 4, equal_pods(4, "1", "1Gi"))),
            "pod group is unschedulable, 2 of 4 pods fit; short of 2 × cpu 1");
}

TEST_F(GroupShortageTest, TheKindOfPodsThatLacksTheMostSpeaks) {
  node({.name = "n", .cpu = "4", .memory = "4Gi"});
  std::vector<PodSample> pods = sample_pods("a", 3, "2");
  for (int i = 0; i < 4; ++i) pods.push_back({.name = "b" + std::to_string(i), .memory = "2Gi"});
  EXPECT_EQ(why(sample_leaf("g", 7, pods)),
            "pod group is unschedulable, 4 of 7 pods fit; short of 2 × memory 2Gi");
  pods.resize(5);
  EXPECT_EQ(why(sample_leaf("g", 5, pods)),
            "pod group is unschedulable, 4 of 5 pods fit; short of 1 × cpu 2");
}

TEST_F(GroupShortageTest, OfWhatIsEquallyShortTheFirstIsNamed) {
  node({.name = "n", .cpu = "4", .memory = "4Gi"});
  EXPECT_EQ(why(sample_leaf("g", 5, equal_pods(5, "1", "1Gi"))),
            "pod group is unschedulable, 4 of 5 pods fit; short of 1 × cpu 1");
  std::vector<PodSample> pods = sample_pods("a", 3, "2");
  for (int i = 0; i < 3; ++i) pods.push_back({.name = "b" + std::to_string(i), .memory = "2Gi"});
  EXPECT_EQ(why(sample_leaf("g", 6, pods)),
            "pod group is unschedulable, 4 of 6 pods fit; short of 1 × cpu 2");
  std::ranges::reverse(pods);
  EXPECT_EQ(why(sample_leaf("g", 6, pods)),
            "pod group is unschedulable, 4 of 6 pods fit; short of 1 × memory 2Gi");
}

// Of ten small pods only three would be needed, and one fits: the large ones lack more.
TEST_F(GroupShortageTest, OfManyPodsOnlyTheMinimumLacksRoom) {
  node({.name = "n", .cpu = "1", .memory = "1Gi"});
  std::vector<PodSample> pods = sample_pods("a", 10, "1");
  for (int i = 0; i < 3; ++i) pods.push_back({.name = "b" + std::to_string(i), .memory = "2Gi"});
  EXPECT_EQ(why(sample_leaf("g", 3, pods)),
            "pod group is unschedulable, 1 of 3 pods fit; 0/1 nodes are available: 1 Insufficient "
            "memory");
}

TEST_F(GroupShortageTest, PodsBeyondTheMinimumAreNotMissed) {
  node({.name = "n"});
  EXPECT_EQ(why(sample_leaf("g", 6, sample_pods("p", 10, "1"))),
            "pod group is unschedulable, 4 of 6 pods fit; short of 2 × cpu 1");
}

TEST_F(GroupShortageTest, WhereNoRackTakesAnyoneTheKindWithTheMostPodsSpeaks) {
  node({.name = "n1", .labels = {{"rack", "a"}}});
  node({.name = "n2", .labels = {{"rack", "b"}}});
  node({.name = "n3"});
  const std::string elsewhere = R"("nodeSelector":{"disk":"ssd"})";
  std::vector<PodSample> pods = sample_pods("big", 1, "9");
  for (int i = 0; i < 2; ++i)
    pods.push_back({.name = "p" + std::to_string(i), .cpu = "1", .spec = elsewhere});
  EXPECT_EQ(why(sample_leaf("g", 3, pods, "rack")),
            "pod group is unschedulable, 0/2 placements are available, 0/2 nodes are available: 2 "
            "node(s) didn't match Pod's node affinity/selector");
  pods.push_back({.name = "big1", .cpu = "9"});
  pods.push_back({.name = "big2", .cpu = "9"});
  EXPECT_EQ(why(sample_leaf("g", 5, pods, "rack")),
            "pod group is unschedulable, 0/2 placements are available, 0/2 nodes are available: 2 "
            "Insufficient cpu");
}

}  // namespace
}  // namespace muster::scheduler
