#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

// Which pods of a tree without a place wait for a node, and which for others of the tree.
namespace muster::scheduler {
namespace {

class GroupWaits : public ::testing::Test {
 protected:
  void rack(const std::string& name, int count, int slots, int used = 0) {
    add_sample_rack(cluster_, name, count, slots, used);
  }
  // A letter for each refused pod: N for a node, s for siblings.
  std::string waits(const Group& root, const PlacementOptions& options = {}) {
    const Plan plan = attempt_group(root, cluster_, profile_, options);
    EXPECT_TRUE(plan.assignments.empty());
    std::string letters;
    for (const Refusal& refusal : plan.refusals)
      letters += refusal.waits_for == WaitsFor::Node       ? 'N'
                 : refusal.waits_for == WaitsFor::Siblings ? 's'
                                                           : '?';
    return letters;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

Group gang(const std::string& name, int pods, const std::string& key = "") {
  return sample_leaf(name, pods, sample_pods(name, pods, "1"), key);
}

TEST_F(GroupWaits, ThoseBeyondTheRoomWaitForANode) {
  rack("a", 2, 4, 1);
  EXPECT_EQ(waits(gang("g", 8)), "sssssssN");
  EXPECT_EQ(waits(gang("g", 10)), "sssssssNNN");
}

TEST_F(GroupWaits, TheRoomIsThatOfTheClosestRack) {
  rack("a", 1, 3);
  rack("b", 1, 5);
  rack("c", 1, 4);
  EXPECT_EQ(waits(gang("g", 7, "rack")), "sssssNN");
  EXPECT_EQ(waits(gang("g", 14)), "ssssssssssssNN") << "anywhere it is that of all of them";
}

TEST_F(GroupWaits, PodsThatNoNodeTakesWaitForOne) {
  rack("a", 2, 4);
  EXPECT_EQ(waits(sample_leaf("g", 2, sample_pods("p", 2, "5"))), "NN");
  EXPECT_EQ(
      waits(sample_leaf(
          "g", 3,
          {{.name = "a", .cpu = "1"}, {.name = "big", .cpu = "5"}, {.name = "b", .cpu = "1"}})),
      "sNs");
}

TEST_F(GroupWaits, PodsOfAnotherKindTakeFromTheSameRoom) {
  rack("a", 1, 4);
  EXPECT_EQ(waits(sample_leaf("g", 5,
                              {{.name = "a", .cpu = "1"},
                               {.name = "b", .cpu = "1"},
                               {.name = "c", .cpu = "1500m"},
                               {.name = "d", .cpu = "1500m"},
                               {.name = "e", .cpu = "1500m"}})),
            "sssNN");
}

TEST_F(GroupWaits, MembersThatAreNotThereAreWaitedForWhateverTheRoom) {
  rack("a", 1, 4);
  EXPECT_EQ(waits(sample_leaf("g", 3, sample_pods("p", 2, "1"))), "ss");
  EXPECT_EQ(waits(sample_leaf("g", 3, sample_pods("p", 2, "9"))), "ss");
}

TEST_F(GroupWaits, GroupsThatAreNotThereAreWaitedForByAllBelow) {
  rack("a", 1, 4);
  EXPECT_EQ(waits(sample_composite("c", 3, {gang("x", 2), gang("y", 9)})), "sssssssssss");
  EXPECT_EQ(waits(sample_composite("root", 2,
                                   {sample_composite("missing", 2, {gang("x", 6)}), gang("y", 6)})),
            "ssssssssssNN")
      << "x waits for its parent's other child; y for room alone";
}

TEST_F(GroupWaits, GroupsOfATreeShareItsRoom) {
  rack("a", 1, 4);
  EXPECT_EQ(waits(sample_composite("c", 2, {gang("x", 3), gang("y", 3)})), "ssssNN");
}

TEST_F(GroupWaits, AGroupHasNoMoreRoomThanItsRack) {
  rack("a", 1, 3);
  rack("b", 1, 3);
  EXPECT_EQ(waits(sample_composite("c", 2, {gang("x", 4, "rack"), gang("y", 1)})), "sssNs");
}

TEST_F(GroupWaits, PodsOfAnotherKindTakeFromTheSameRack) {
  rack("a", 1, 4);
  rack("b", 1, 4);
  const Group x = sample_leaf("x", 5,
                              {{.name = "a", .cpu = "1"},
                               {.name = "b", .cpu = "1"},
                               {.name = "c", .cpu = "1500m"},
                               {.name = "d", .cpu = "1500m"},
                               {.name = "e", .cpu = "1500m"}},
                              "rack");
  EXPECT_EQ(waits(sample_composite("c", 2, {x, gang("y", 2)})), "sssNNss");
}

// Where the group's own domains are not looked at, the room of the tree is all that is known.
TEST_F(GroupWaits, AGroupThatIsNotExplainedHasTheRoomOfItsTree) {
  rack("a", 1, 3);
  rack("b", 1, 3);
  const Group tree = sample_composite("c", 2, {gang("x", 4, "rack"), gang("y", 1)});
  EXPECT_EQ(waits(tree, {.explained_max = 1}), "ssssN");
}

// Two nodes of three cpus take any two of these pods, and never all three.
std::vector<PodSample> quarrelling() {
  return {{.name = "a", .cpu = "2"}, {.name = "b", .cpu = "2"}, {.name = "c", .cpu = "1500m"}};
}

TEST_F(GroupWaits, OneWaitsForANodeIfThereIsRoomForEachButNotForAll) {
  rack("a", 2, 3);
  EXPECT_EQ(waits(sample_leaf("g", 3, quarrelling())), "ssN");
  EXPECT_EQ(waits(sample_composite("c", 1, {sample_leaf("g", 3, quarrelling())})), "ssN");
}

TEST_F(GroupWaits, NobodyIsSaidToNeedANodeIfOthersAreMissingOrTheGroupInsists) {
  rack("a", 2, 3);
  Group two = sample_composite("c", 2, {sample_leaf("g", 3, quarrelling())});
  EXPECT_EQ(waits(two), "sss") << "the second group is missing";
  Group insisting = sample_leaf("g", 3, quarrelling());
  insisting.preferred.key = "rack";
  insisting.insists_until = Time{} + std::chrono::hours{1};
  EXPECT_EQ(waits(insisting), "sss");
}

TEST_F(GroupWaits, AClusterWithoutNodesLetsAllWaitForOne) { EXPECT_EQ(waits(gang("g", 2)), "NN"); }

}  // namespace
}  // namespace muster::scheduler
