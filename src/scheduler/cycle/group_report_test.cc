#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

// What the groups of a tree are told that got no place.
namespace muster::scheduler {
namespace {

class GroupReportTest : public ::testing::Test {
 protected:
  void rack(const std::string& name, int count, int slots, int used = 0,
            const std::string& zone = "z") {
    add_sample_rack(cluster_, name, count, slots, used, zone);
  }
  GroupVerdict verdict(const Group& root, const PlacementOptions& options = {}) {
    return attempt_group(root, cluster_, profile_, options).groups.front();
  }
  // Without the beginning that all sentences share.
  std::string why(const Group& root, const PlacementOptions& options = {}) {
    const std::string beginning = "pod group is unschedulable, ";
    const std::string message = verdict(root, options).message;
    EXPECT_TRUE(message.starts_with(beginning)) << message;
    return message.substr(std::min(beginning.size(), message.size()));
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

Group gang(const std::string& name, int pods, const std::string& key = "") {
  return sample_leaf(name, pods, sample_pods(name, pods, "1"), key);
}

TEST_F(GroupReportTest, OfEquallyCloseRacksTheFirstByNameIsNamed) {
  for (const char* name : {"c", "b", "a"}) rack(name, 1, 3);
  const GroupVerdict equal = verdict(gang("g", 4, "rack"));
  EXPECT_EQ(equal.message,
            "pod group is unschedulable, 0/3 placements are available, rack a comes closest: 3 of "
            "4 pods fit; short of 1 × cpu 1");
  ASSERT_EQ(equal.bounds.size(), 3u);
  EXPECT_EQ(equal.bounds[0].domain, "a");
  EXPECT_EQ(equal.bounds[1].domain, "b");
  EXPECT_EQ(equal.bounds[2].domain, "c");
}

// Zone a has room for more pods, zone b for more groups.
TEST_F(GroupReportTest, TheZoneWithRoomForMoreGroupsIsCloserThanThatForMorePods) {
  rack("a", 1, 4, 0, "a");
  cluster_.set_node(NodeSample{
      .name = "b-0", .cpu = "1", .labels = {{"zone", "b"}}, .extended = {{"example.com/gpu", "2"}}}
                        .make());
  const auto with_gpu = [](const std::string& name) {
    return sample_leaf(name, 1, {{.name = name, .extended = {{"example.com/gpu", "1"}}}});
  };
  const GroupVerdict tree =
      verdict(sample_composite("c", 3, {gang("x", 4), with_gpu("y"), with_gpu("z")}, "zone"));
  EXPECT_EQ(tree.message,
            "pod group is unschedulable, 0/2 placements are available, zone b comes closest: 2 of "
            "3 groups fit; x: 1 of 4 pods fit; short of 3 × cpu 1");
  ASSERT_EQ(tree.bounds.size(), 2u);
  EXPECT_EQ(tree.bounds[0].domain, "b");
  EXPECT_EQ(tree.bounds[0].ready, 2);
  EXPECT_EQ(tree.bounds[0].fits_at_most, 3);
  EXPECT_EQ(tree.bounds[0].needed, 3);
  EXPECT_EQ(tree.bounds[1].ready, 1);
  EXPECT_EQ(tree.bounds[1].fits_at_most, 4);
}

TEST_F(GroupReportTest, OfZonesForEquallyManyGroupsThatForMorePodsIsCloser) {
  rack("a", 1, 4, 0, "a");
  rack("b", 1, 5, 0, "b");
  EXPECT_EQ(why(sample_composite("c", 2, {gang("x", 6), gang("y", 2)}, "zone")),
            "0/2 placements are available, zone b comes closest: 1 of 2 groups fit; x: 5 of 6 pods "
            "fit; short of 1 × cpu 1");
}

TEST_F(GroupReportTest, NoMoreBoundsAreListedThanAskedFor) {
  for (const char* name : {"a", "b", "c"}) rack(name, 1, 3);
  EXPECT_EQ(verdict(gang("g", 4, "rack"), {.bounds_max = 2}).bounds.size(), 2u);
  EXPECT_EQ(verdict(gang("g", 4, "rack"), {.bounds_max = 0}).bounds.size(), 0u);
  ASSERT_EQ(verdict(gang("g", 10)).bounds.size(), 1u);
  EXPECT_EQ(verdict(gang("g", 10)).bounds[0].domain, "") << "anywhere has no name";
  EXPECT_EQ(verdict(gang("g", 10)).bounds[0].fits_at_most, 9);
}

TEST_F(GroupReportTest, PodsThatFitOneByOneButNotTogether) {
  rack("a", 2, 3);
  const std::vector<PodSample> pods = {
      {.name = "a", .cpu = "2"}, {.name = "b", .cpu = "2"}, {.name = "c", .cpu = "1500m"}};
  EXPECT_EQ(why(sample_leaf("g", 3, pods)), "each of 3 pods fits alone, together they do not fit");
  EXPECT_EQ(why(sample_leaf("g", 3, pods, "rack")),
            "0/1 placements are available, rack a comes closest: each of 3 pods fits alone, "
            "together they do not fit");
}

TEST_F(GroupReportTest, GroupsThatFitOneByOneNeedThePodsOfTheSmallest) {
  rack("a", 1, 5);
  EXPECT_EQ(why(sample_composite("c", 2, {gang("x", 5), gang("y", 3), gang("z", 3)})),
            "each of 2 groups fits alone, together they do not fit: 5 of 6 pods do; short of 1 × "
            "cpu 1");
}

TEST_F(GroupReportTest, ASearchThatStoppedProvesNothing) {
  rack("a", 2, 3);
  const std::vector<PodSample> pods = {
      {.name = "a", .cpu = "2"}, {.name = "b", .cpu = "2"}, {.name = "c", .cpu = "1500m"}};
  const Group leaf = sample_leaf("g", 3, pods);
  const Plan plan = attempt_group(leaf, cluster_, profile_, {.steps_max = 1});
  EXPECT_EQ(plan.groups.front().outcome, Outcome::Unresolved);
  EXPECT_EQ(plan.groups.front().message,
            "pod group is unschedulable, each of 3 pods fits alone, no way to place them together "
            "was found in " +
                std::to_string(plan.steps) + " steps");
  EXPECT_EQ(verdict(leaf).outcome, Outcome::Unschedulable);
  const Plan tree =
      attempt_group(sample_composite("c", 1, {leaf}), cluster_, profile_, {.steps_max = 1});
  EXPECT_EQ(tree.groups.front().message,
            "pod group is unschedulable, each of 1 groups fits alone, no way to place them "
            "together was found in " +
                std::to_string(tree.steps) + " steps");
}

TEST_F(GroupReportTest, AGroupThatInsistsSaysUntilWhen) {
  for (const char* name : {"a", "b"}) rack(name, 1, 3);
  Group insisting = gang("g", 4);
  insisting.preferred.key = "rack";
  insisting.insists_until = Time{} + std::chrono::hours{1};
  EXPECT_EQ(why(insisting),
            "0/2 placements are available, rack a comes closest: 3 of 4 pods fit; short of 1 × cpu "
            "1; it waits until 1970-01-01T01:00:00Z for one rack and then takes as few as "
            "possible");
}

TEST_F(GroupReportTest, AKeyIsCalledByItsLastPart) {
  cluster_.set_node(
      NodeSample{.name = "n", .cpu = "3", .labels = {{"topology.example.com/rack", "r1"}}}.make());
  EXPECT_EQ(why(gang("g", 4, "topology.example.com/rack")),
            "0/1 placements are available, rack r1 comes closest: 3 of 4 pods fit; short of 1 × "
            "cpu 1");
}

TEST_F(GroupReportTest, AMemberOnANodeWithoutTheLabelRulesOutEveryRack) {
  rack("a", 1, 4);
  cluster_.set_node(NodeSample{.name = "bare"}.make());
  cluster_.set_pod(PodSample{.name = "m", .node_name = "bare", .group = "g"}.make());
  EXPECT_EQ(why(sample_leaf("g", 3, sample_pods("p", 2, "1"), "rack")),
            "a member already runs on a node without label rack");
}

TEST_F(GroupReportTest, GroupsThatAreMissingAreCounted) {
  rack("a", 1, 4);
  EXPECT_EQ(why(sample_composite("c", 3, {gang("x", 1), gang("y", 1)})),
            "minCount (3) cannot be satisfied: 0 scheduled, 2 remaining");
}

TEST_F(GroupReportTest, MembersThatRunCountAsScheduled) {
  rack("a", 1, 4);
  cluster_.set_pod(PodSample{.name = "m", .node_name = "a-0", .group = "g"}.make());
  EXPECT_EQ(why(sample_leaf("g", 4, sample_pods("p", 2, "1"))),
            "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining");
  EXPECT_EQ(why(sample_leaf("g", 3, sample_pods("p", 2, "3"))),
            "1 of 2 pods fit; short of 1 × cpu 3")
      << "two are left to place";
}

TEST_F(GroupReportTest, ChildrenOfAFailedTreeThatWouldFitSayWhatTheirParentSays) {
  rack("a", 1, 4);
  const Group tree = sample_composite("c", 2, {gang("x", 9), gang("y", 2)});
  const Plan plan = attempt_group(tree, cluster_, profile_);
  ASSERT_EQ(plan.groups.size(), 3u);
  EXPECT_EQ(plan.groups[0].message,
            "pod group is unschedulable, 1 of 2 groups fit; x: 4 of 9 pods fit; short of 5 × cpu "
            "1");
  EXPECT_EQ(plan.groups[1].message,
            "pod group is unschedulable, 4 of 9 pods fit; short of 5 × cpu 1");
  EXPECT_EQ(plan.groups[2].message, plan.groups[0].message);
  const Plan brief = attempt_group(tree, cluster_, profile_, {.explained_max = 1});
  EXPECT_EQ(brief.groups[1].message, brief.groups[0].message) << "one sentence is all";
}

TEST_F(GroupReportTest, ThoseLeftOutOfAPlacedTreeMayBeTooManyToExplain) {
  rack("a", 1, 4);
  const Group tree = sample_composite("c", 1, {gang("x", 2), gang("y", 9), gang("z", 9)});
  const Plan plan = attempt_group(tree, cluster_, profile_, {.explained_max = 1});
  ASSERT_EQ(plan.groups.size(), 4u);
  EXPECT_EQ(plan.groups[1].outcome, Outcome::Placed);
  EXPECT_EQ(plan.groups[2].message,
            "pod group is unschedulable, 2 of 9 pods fit; short of 7 × cpu 1");
  EXPECT_EQ(plan.groups[3].message, "pod group is unschedulable, like others of its tree");
}

}  // namespace
}  // namespace muster::scheduler
