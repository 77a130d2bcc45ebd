#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "scheduler/groups/tree_faults.h"

// What a change leaves to do when little may be looked at in one go.
namespace muster::scheduler {
namespace {

using Anchors = TreeFaults::Anchors;
using Names = std::vector<std::string>;

GroupKey leaf(const std::string& name, const std::string& name_space = "ns") {
  return {GroupKind::PodGroup, name_space, name};
}
GroupKey composite(const std::string& name, const std::string& name_space = "ns") {
  return {GroupKind::CompositePodGroup, name_space, name};
}

class FaultLooks : public ::testing::Test {
 protected:
  Anchors put(const GroupKey& key, const std::string& parent = "", std::int32_t priority = 0) {
    GroupSpec group;
    group.key = key;
    group.parent = parent;
    group.priority = priority;
    group.workload = "w";
    group.template_name = "t";
    forest_.set(group);
    return faults_.look_again(key);
  }
  Anchors go_on(std::size_t steps, const std::string& name_space = "ns") {
    return faults_.go_on(name_space, steps);
  }

  WorkloadForest forest_;
  TreeFaults faults_{forest_, 2};
};

// Only what is below the change waits: trees beside it, and other namespaces, go on.
TEST_F(FaultLooks, OnlyTheTreeThatChangedIsUnjudged) {
  for (int i = 0; i < 5; ++i) put(leaf(fmt::format("l{}", i)), "c");
  put(leaf("beside"));
  put(leaf("elsewhere", "other"));
  put(composite("c"));
  EXPECT_EQ(faults_.unfinished(), Names{"ns"});
  EXPECT_FALSE(faults_.is_judged(composite("c")));
  EXPECT_FALSE(faults_.is_judged(leaf("l3")));
  EXPECT_TRUE(faults_.is_judged(leaf("beside")));
  EXPECT_TRUE(faults_.is_judged(leaf("elsewhere", "other")));
  EXPECT_TRUE(go_on(100, "other").empty());
  EXPECT_TRUE(go_on(100, "unknown").empty());
  EXPECT_FALSE(faults_.is_judged(composite("c")));
  EXPECT_EQ(go_on(100), Anchors{composite("c")}) << "it may be tried now";
  EXPECT_EQ(faults_.unfinished(), Names{});
  EXPECT_TRUE(faults_.is_judged(composite("c")));
  EXPECT_TRUE(go_on(100).empty());
}

TEST_F(FaultLooks, StepsAreCountedAndTheRestIsLeft) {
  for (int i = 0; i < 9; ++i) put(leaf(fmt::format("l{}", i)), "c");
  put(composite("c"));
  const std::uint64_t before = faults_.looked_at();
  std::size_t steps = 3;
  EXPECT_TRUE(faults_.go_on("ns", steps).empty());
  EXPECT_EQ(steps, 0U);
  EXPECT_EQ(faults_.looked_at() - before, 3U);
  steps = 100;
  faults_.go_on("ns", steps);
  EXPECT_EQ(faults_.looked_at() - before, 8U) << "two at once, three, and five";
  EXPECT_EQ(steps, 100U - 5U - 1U) << "one to find its end";
}

// A change that comes meanwhile is not lost.
TEST_F(FaultLooks, ATreeThatChangesWhileItIsLookedAtIsLookedAtOnceMore) {
  for (int i = 0; i < 5; ++i) put(leaf(fmt::format("l{}", i)), "c");
  put(composite("c"), "", 0);
  put(composite("c"), "", 7);
  EXPECT_EQ(go_on(100), Anchors{composite("c")});
  ASSERT_NE(faults_.of_tree(composite("c")), nullptr);
  EXPECT_EQ(*faults_.of_tree(composite("c")),
            "all groups of a tree should have the same priority, pod group \"l0\" has 0 and its "
            "root \"c\" has 7");
}

TEST_F(FaultLooks, AWorkloadIsComparedWithItsTreesOneByOne) {
  WorkloadTemplates right;
  right.templates["t"] = {GroupKind::PodGroup, ""};
  faults_.set_workload("ns", "w", right);
  constexpr int kTrees = 7;
  for (int i = 0; i < kTrees; ++i) {
    put(leaf(fmt::format("g{}", i)));
    faults_.compare(leaf(fmt::format("g{}", i)));
    go_on(100);
  }
  EXPECT_EQ(faults_.compared(), std::size_t{kTrees});
  std::set<GroupKey> wrong;
  const auto add = [&wrong](const Anchors& changed) {
    wrong.insert(changed.begin(), changed.end());
  };
  add(faults_.set_workload("ns", "w", WorkloadTemplates{}));
  EXPECT_LE(wrong.size(), 2U);
  EXPECT_EQ(faults_.unfinished(), Names{"ns"});
  for (int i = 0; i < 3; ++i) add(go_on(2));
  EXPECT_LT(wrong.size(), std::size_t{kTrees});
  add(go_on(100));
  EXPECT_EQ(wrong.size(), std::size_t{kTrees});
  EXPECT_EQ(faults_.unfinished(), Names{});
  for (int i = 0; i < kTrees; ++i)
    EXPECT_NE(faults_.of_tree(leaf(fmt::format("g{}", i))), nullptr) << i;
}

// Templates are compared only in a proper tree.
TEST_F(FaultLooks, WhatIsWrongWithTheTreeComesBeforeItsTemplates) {
  put(composite("c"));
  faults_.compare(composite("c"));
  faults_.set_workload("ns", "w", WorkloadTemplates{});
  go_on(100);
  ASSERT_NE(faults_.of_tree(composite("c")), nullptr);
  WorkloadTemplates right;
  right.templates["t"] = {GroupKind::CompositePodGroup, ""};
  faults_.set_workload("ns", "w", right);
  go_on(100);
  EXPECT_EQ(faults_.of_tree(composite("c")), nullptr);
  put(leaf("a"), "c", 3);
  ASSERT_NE(faults_.of_tree(composite("c")), nullptr);
  EXPECT_EQ(*faults_.of_tree(composite("c")),
            "all groups of a tree should have the same priority, pod group \"a\" has 3 and its "
            "root \"c\" has 0");
}

TEST_F(FaultLooks, WhatIsToBeReportedIsDrainedByNamespace) {
  put(leaf("a"));
  put(leaf("b"));
  put(leaf("c", "other"));
  EXPECT_EQ(faults_.changed_namespaces(), (Names{"ns", "other"}));
  EXPECT_TRUE(faults_.drain_changed("unknown", 10).empty());
  EXPECT_EQ(faults_.drain_changed("ns", 1), Anchors{leaf("a")});
  EXPECT_EQ(faults_.changed_namespaces(), (Names{"ns", "other"}));
  EXPECT_EQ(faults_.drain_changed("ns", 10), Anchors{leaf("b")});
  EXPECT_EQ(faults_.changed_namespaces(), Names{"other"});
  forest_.erase(leaf("c", "other"));
  faults_.look_again(leaf("c", "other"));
  EXPECT_EQ(faults_.changed_namespaces(), Names{}) << "it is gone";
}

TEST_F(FaultLooks, OnlyRootsOfWorkloadsAreCompared) {
  GroupSpec free;
  free.key = leaf("free");
  forest_.set(free);
  EXPECT_TRUE(faults_.compare(leaf("free")).empty());
  EXPECT_TRUE(faults_.compare(leaf("unknown")).empty());
  EXPECT_EQ(faults_.compared(), 0U);
  put(leaf("g"));
  faults_.compare(leaf("g"));
  faults_.compare(leaf("g"));
  EXPECT_EQ(faults_.compared(), 1U);
}

TEST_F(FaultLooks, ACopyKnowsTheSameAndGoesOnByItself) {
  put(leaf("wrong"), "c", 1);
  put(composite("c"));
  go_on(100);
  const WorkloadForest forest(forest_);
  TreeFaults copy(faults_, forest);
  ASSERT_NE(copy.of_group(leaf("wrong")), nullptr);
  EXPECT_EQ(*copy.of_group(leaf("wrong")), *faults_.of_group(leaf("wrong")));
  EXPECT_FALSE(copy.drain_changed().empty());
  EXPECT_FALSE(faults_.drain_changed().empty());
}

}  // namespace
}  // namespace muster::scheduler
