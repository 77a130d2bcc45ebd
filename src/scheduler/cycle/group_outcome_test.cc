#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "scheduler/placement/group_testing.h"
#include "scheduler/plugins/default_profile.h"

// Whether evictions could help a group that found no place.
namespace muster::scheduler {
namespace {

// Two racks of one node each, and a gang of two pods that each ask for another of them.
class GroupOutcome : public ::testing::Test {
 protected:
  GroupOutcome() {
    for (const char* rack : {"a", "b"}) add_sample_rack(cluster_, rack, 1, 4);
  }
  static Group gang(const std::string& key = "") {
    return sample_leaf("g", 2,
                       {{.name = "p0", .cpu = "1", .spec = R"("nodeSelector":{"rack":"a"})"},
                        {.name = "p1", .cpu = "1", .spec = R"("nodeSelector":{"rack":"b"})"}},
                       key);
  }
  Outcome outcome(const Group& root) {
    return attempt_group(root, cluster_, profile_).groups.front().outcome;
  }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

TEST_F(GroupOutcome, PodsOfTwoRacksThatMustShareOneAreBeyondHelp) {
  EXPECT_EQ(outcome(gang()), Outcome::Placed);
  EXPECT_EQ(outcome(gang("rack")), Outcome::Unresolvable);
  EXPECT_EQ(outcome(sample_composite("c", 1, {gang("rack")})), Outcome::Unresolvable);
}

// It takes both racks in the end.
TEST_F(GroupOutcome, AGroupThatWaitsForTheRackItPrefersIsNotBeyondHelp) {
  Group insisting = gang();
  insisting.preferred.key = "rack";
  insisting.insists_until = Time{} + std::chrono::hours{1};
  EXPECT_EQ(outcome(insisting), Outcome::Unschedulable);
  EXPECT_EQ(outcome(sample_composite("c", 1, {insisting})), Outcome::Unschedulable);
  insisting.insists_until = {};
  EXPECT_EQ(outcome(insisting), Outcome::Placed);
}

// What the verdict on a gang depends on: who could make room where.
class GroupRefusals : public ::testing::Test {
 protected:
  void node(const NodeSample& sample) { cluster_.set_node(sample.make()); }
  void fill(const std::string& name, const std::string& cpu) {
    cluster_.set_pod(PodSample{.name = "on-" + name, .cpu = cpu, .node_name = name}.make());
  }
  Plan attempt(const Group& root) {
    Plan plan = attempt_group(root, cluster_, profile_);
    EXPECT_TRUE(plan.assignments.empty());
    return plan;
  }
  Outcome outcome(const Group& root) { return attempt(root).groups.front().outcome; }

  Cluster cluster_;
  Profile profile_ = default_profile();
};

using Plugins = std::vector<std::string>;

TEST_F(GroupRefusals, OneRackWhereSomebodyCouldLeaveIsHopeEnough) {
  const Group gang = sample_leaf("g", 2, sample_pods("p", 2, "2"), "rack");
  node(
      {.name = "a", .labels = {{"rack", "a"}}, .taints = R"([{"key":"k","effect":"NoSchedule"}])"});
  EXPECT_EQ(outcome(gang), Outcome::Unresolvable);
  EXPECT_EQ(attempt(gang).refusals[0].plugins, Plugins{"TaintToleration"});
  node({.name = "b", .labels = {{"rack", "b"}}});
  fill("b", "3");
  EXPECT_EQ(outcome(gang), Outcome::Unschedulable);
  EXPECT_EQ(attempt(gang).refusals[1].plugins, (Plugins{"TaintToleration", "NodeResourcesFit"}));
}

// A node that takes some of them refuses the others by room, without being asked.
TEST_F(GroupRefusals, RoomIsWaitedForWhereSomeFit) {
  node({.name = "a"});
  const Plan plan = attempt(sample_leaf("g", 5, sample_pods("p", 5, "1")));
  EXPECT_EQ(plan.groups.front().outcome, Outcome::Unschedulable);
  EXPECT_EQ(plan.refusals.front().plugins, Plugins{"NodeResourcesFit"});
  const Plan stuck =
      attempt(sample_leaf("g", 1,
                          {{.name = "p", .spec = R"("nodeSelector":{"disk":"ssd"})"},
                           {.name = "q", .spec = R"("nodeSelector":{"disk":"ssd"})"}}));
  EXPECT_EQ(stuck.refusals.front().plugins, Plugins{"NodeAffinity"});
}

TEST_F(GroupRefusals, EachKindOfPodsWaitsForThosePluginsThatRefuseIt) {
  node({.name = "a"});
  const Plan plan =
      attempt(sample_leaf("g", 2,
                          {{.name = "big", .cpu = "5"},
                           {.name = "picky", .spec = R"("nodeSelector":{"disk":"ssd"})"}}));
  ASSERT_EQ(plan.refusals.size(), 2u);
  EXPECT_EQ(plan.refusals[0].plugins, Plugins{"NodeResourcesFit"});
  EXPECT_EQ(plan.refusals[1].plugins, Plugins{"NodeAffinity"});
}

TEST_F(GroupRefusals, MembersThatRunCountWhenNobodyElseCanCome) {
  node({.name = "a"});
  node({.name = "b", .labels = {{"disk", "ssd"}}});
  fill("b", "4");
  const std::vector<PodSample> pods = {
      {.name = "p", .cpu = "1", .spec = R"("nodeSelector":{"disk":"ssd"})"},
      {.name = "big", .cpu = "5"}};
  EXPECT_EQ(outcome(sample_leaf("g", 2, pods)), Outcome::Unresolvable);
  cluster_.set_pod(PodSample{.name = "m", .node_name = "a", .group = "g"}.make());
  EXPECT_EQ(outcome(sample_leaf("g", 2, pods)), Outcome::Unschedulable) << "p alone is enough";
  EXPECT_EQ(outcome(sample_leaf("g", 3, pods)), Outcome::Unresolvable);
}

TEST_F(GroupRefusals, AParentNeedsAsManyChildrenWithHopeAsItsMinimum) {
  node({.name = "a"});
  fill("a", "3");
  const Group full = sample_leaf("full", 2, sample_pods("x", 2, "2"));
  const Group lost = sample_leaf("lost", 1, sample_pods("y", 1, "5"));
  EXPECT_EQ(outcome(sample_composite("c", 1, {lost, full})), Outcome::Unschedulable);
  EXPECT_EQ(outcome(sample_composite("c", 2, {lost, full})), Outcome::Unresolvable);
}

}  // namespace
}  // namespace muster::scheduler
