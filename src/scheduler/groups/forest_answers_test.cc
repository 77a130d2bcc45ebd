#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/groups/workload_forest.h"

// What a forest answers about the place of a group in its tree, and whether its pods need each
// other.
namespace muster::scheduler {
namespace {

using Names = std::vector<std::string>;

GroupKey leaf(std::string name) { return {GroupKind::PodGroup, "ns", std::move(name)}; }
GroupKey composite(std::string name) {
  return {GroupKind::CompositePodGroup, "ns", std::move(name)};
}

struct GroupOptions {
  std::string parent = {};
  bool gang = true;
  std::int32_t minimum = 1;
  std::string topology = {};
};

void put(WorkloadForest& forest, const GroupKey& key, const GroupOptions& options = {}) {
  GroupSpec group;
  group.key = key;
  group.parent = options.parent;
  group.gang = options.gang;
  group.minimum = options.minimum;
  group.topology_key = options.topology;
  forest.set(std::move(group));
}

// --- loose

struct LooseCase {
  const char* name;
  GroupOptions group;
  std::int32_t waiting, gated, present;
  bool disagrees, want;
};

class LooseLeaves : public ::testing::TestWithParam<LooseCase> {};

TEST_P(LooseLeaves, AreThoseWhosePodsNeedNoOther) {
  const LooseCase& c = GetParam();
  WorkloadForest forest;
  put(forest, composite("c"));
  put(forest, leaf("g"), c.group);
  forest.count_member(leaf("g"), Membership::Waiting, c.waiting);
  forest.count_member(leaf("g"), Membership::Gated, c.gated);
  forest.count_member(leaf("g"), Membership::Present, c.present);
  forest.set_disagreement(leaf("g"), c.disagrees);
  EXPECT_EQ(forest.loose(leaf("g")), c.want);
}

const GroupOptions kBasic{.gang = false};
const GroupOptions kBasicInRack{.gang = false, .topology = "rack"};
const GroupOptions kBasicBelow{.parent = "c", .gang = false};
const GroupOptions kGangOfTwo{.minimum = 2};

INSTANTIATE_TEST_SUITE_P(
    All, LooseLeaves,
    ::testing::Values(
        LooseCase{"basic", kBasic, 2, 0, 0, false, true},
        LooseCase{"basic that disagrees", kBasic, 2, 0, 0, true, false},
        LooseCase{"basic that disagrees, nobody waits", kBasic, 0, 0, 1, true, true},
        LooseCase{"basic with a gated one", kBasic, 1, 1, 0, false, true},
        LooseCase{"basic in one domain", kBasicInRack, 2, 0, 0, false, false},
        LooseCase{"basic in a domain that is chosen", kBasicInRack, 2, 0, 1, false, true},
        LooseCase{"held back by a gate", kBasicInRack, 2, 1, 1, false, false},
        LooseCase{"basic below a composite", kBasicBelow, 2, 0, 0, false, false},
        LooseCase{"basic below a composite, one there", kBasicBelow, 2, 0, 1, false, true},
        LooseCase{"gang", kGangOfTwo, 3, 0, 0, false, false},
        LooseCase{"gang with one there", kGangOfTwo, 3, 0, 1, false, false},
        LooseCase{"gang with its minimum there", kGangOfTwo, 3, 0, 2, false, true},
        LooseCase{"gang without enough pods", kGangOfTwo, 1, 0, 0, false, false}),
    [](const auto& entry) {
      std::string name = entry.param.name;
      std::erase_if(name, [](char letter) { return letter == ' ' || letter == ','; });
      return name;
    });

TEST(ForestAnswers, OneLeafThatNeedsItsPodsTogetherHoldsItsWholeTree) {
  WorkloadForest forest;
  put(forest, composite("c"));
  for (const char* name : {"a", "b"}) {
    put(forest, leaf(name), {.parent = "c"});
    forest.count_member(leaf(name), Membership::Waiting, 1);
    forest.count_member(leaf(name), Membership::Present, 1);
  }
  EXPECT_TRUE(forest.loose(leaf("a")));
  EXPECT_TRUE(forest.loose(composite("c")));
  put(forest, leaf("b"), {.parent = "c", .minimum = 2});
  EXPECT_FALSE(forest.loose(leaf("a")));
  put(forest, leaf("b"), {.parent = "c", .minimum = 3});
  EXPECT_TRUE(forest.loose(leaf("a"))) << "b is held back: nothing of it is tried";
  EXPECT_FALSE(forest.loose(leaf("b")));
  put(forest, composite("c"), {.minimum = 2});
  EXPECT_FALSE(forest.loose(leaf("a"))) << "and now so is all of the tree";
}

TEST(ForestAnswers, WhatHasNoRootIsNotLoose) {
  WorkloadForest forest;
  EXPECT_FALSE(forest.loose(leaf("a")));
  forest.set_disagreement(leaf("a"), true);
  put(forest, leaf("a"), {.parent = "c", .gang = false});
  forest.count_member(leaf("a"), Membership::Waiting, 1);
  EXPECT_FALSE(forest.loose(leaf("a")));
  EXPECT_EQ(forest.size(), 2U) << "nobody is known for having been asked about";
}

// --- constraints

TEST(ForestAnswers, AGroupIsConstrainedIfItOrOneAboveItIs) {
  WorkloadForest forest;
  put(forest, composite("c"));
  put(forest, composite("m"), {.parent = "c", .topology = "rack"});
  put(forest, leaf("below"), {.parent = "m"});
  put(forest, leaf("beside"), {.parent = "c"});
  put(forest, leaf("self"), {.parent = "c", .topology = "rack"});
  put(forest, leaf("astray"), {.parent = "nowhere", .topology = "rack"});
  EXPECT_TRUE(forest.is_constrained(composite("m")));
  EXPECT_TRUE(forest.is_constrained(leaf("below")));
  EXPECT_TRUE(forest.is_constrained(leaf("self")));
  EXPECT_FALSE(forest.is_constrained(leaf("beside")));
  EXPECT_FALSE(forest.is_constrained(composite("c")));
  EXPECT_FALSE(forest.is_constrained(leaf("astray")));
  EXPECT_FALSE(forest.is_constrained(leaf("unknown")));
}

// --- readiness

TEST(ForestAnswers, CompositesThatBecomeReadyOrStopBeingSoAreCountedByTree) {
  WorkloadForest forest;
  for (const char* tree : {"a", "b"}) {
    const std::string name(tree);
    put(forest, composite(name), {.minimum = 1});
    put(forest, composite(name + "-mid"), {.parent = name});
    put(forest, leaf(name + "-leaf"), {.parent = name + "-mid"});
  }
  const std::uint64_t other = forest.composite_changes(composite("b"));
  std::uint64_t known = forest.composite_changes(composite("a"));
  const auto has_changed = [&] {
    const std::uint64_t before = std::exchange(known, forest.composite_changes(composite("a")));
    return known != before;
  };
  forest.count_member(leaf("a-leaf"), Membership::Waiting, 1);
  EXPECT_TRUE(has_changed());
  forest.count_member(leaf("a-leaf"), Membership::Waiting, 1);
  EXPECT_FALSE(has_changed()) << "it was ready";
  put(forest, composite("a-mid"), {.parent = "a", .minimum = 2});
  EXPECT_TRUE(has_changed());
  EXPECT_EQ(forest.composite_changes(composite("b")), other);
  EXPECT_EQ(forest.composite_changes(composite("unknown")), 0U);
}

TEST(ForestAnswers, ACompositeIsReadyWithEnoughChildren) {
  WorkloadForest forest;
  put(forest, composite("c"), {.minimum = 2});
  for (const char* name : {"a", "b"}) put(forest, leaf(name), {.parent = "c"});
  forest.count_member(leaf("a"), Membership::Waiting, 1);
  EXPECT_FALSE(forest.ready(composite("c")));
  EXPECT_TRUE(forest.has_pending(composite("c")));
  EXPECT_FALSE(forest.runnable(composite("c")));
  forest.count_member(leaf("b"), Membership::Present, 1);
  EXPECT_TRUE(forest.ready(composite("c")));
  EXPECT_TRUE(forest.runnable(composite("c")));
  forest.count_member(leaf("a"), Membership::Waiting, -1);
  forest.count_member(leaf("a"), Membership::Present, 1);
  EXPECT_TRUE(forest.ready(composite("c")));
  EXPECT_FALSE(forest.runnable(composite("c"))) << "nobody waits";
  EXPECT_FALSE(forest.has_pending(composite("c")));
  EXPECT_FALSE(forest.ready(composite("unknown")));
  EXPECT_FALSE(forest.runnable(composite("unknown")));
  EXPECT_FALSE(forest.has_pending(composite("unknown")));
}

// --- places

TEST(ForestAnswers, AnAnchorIdentifiesATree) {
  WorkloadForest forest;
  put(forest, leaf("astray"), {.parent = "nowhere"});
  EXPECT_EQ(forest.anchor_of(leaf("astray")), std::nullopt);
  EXPECT_EQ(forest.anchor_of(leaf("unknown")), std::nullopt);
  put(forest, composite("c"));
  put(forest, leaf("g"), {.parent = "c"});
  EXPECT_EQ(forest.anchor_of(leaf("g")), composite("c"));
  EXPECT_EQ(forest.anchor_of(composite("c")), composite("c"));
  put(forest, composite("z"), {.parent = "y"});
  put(forest, composite("y"), {.parent = "z"});
  put(forest, leaf("a"), {.parent = "z"});
  EXPECT_EQ(forest.anchor_of(leaf("a")), composite("y")) << "the first of the circle by name";
}

TEST(ForestAnswers, SaysWhyThereIsNoRoot) {
  WorkloadForest forest;
  EXPECT_EQ(forest.why_no_root(leaf("g")), "pod group \"g\" does not exist");
  EXPECT_EQ(forest.why_no_root(composite("c")), "composite pod group \"c\" does not exist");
  put(forest, composite("z"), {.parent = "y"});
  put(forest, composite("y"), {.parent = "z"});
  put(forest, leaf("g"), {.parent = "z"});
  EXPECT_EQ(forest.why_no_root(leaf("g")),
            "cycle detected in composite pod group hierarchy at \"z\"");
}

// One level too deep still has a root; what is deeper is not looked for.
TEST(ForestAnswers, ARootIsLookedForFiveLevelsUp) {
  WorkloadForest forest;
  put(forest, composite("1"));
  for (const char* name : {"2", "3", "4"})
    put(forest, composite(name), {.parent = std::string(1, static_cast<char>(*name - 1))});
  put(forest, leaf("5"), {.parent = "4"});
  ASSERT_NE(forest.root_of(leaf("5")), nullptr);
  EXPECT_EQ(forest.layout_fault(composite("4")), "");
  EXPECT_EQ(forest.layout_fault(leaf("5")),
            "exceeded maximum hierarchy depth at pod group \"5\": it is at level 5 below \"1\", 4 "
            "are allowed");
  put(forest, composite("1"), {.parent = "0"});
  put(forest, composite("0"));
  EXPECT_EQ(forest.root_of(leaf("5")), nullptr);
  EXPECT_EQ(forest.anchor_of(leaf("5")), leaf("5"));
  const std::string too_deep =
      "exceeded maximum hierarchy depth at pod group \"5\": 4 levels are allowed";
  EXPECT_EQ(forest.why_no_root(leaf("5")), too_deep);
  EXPECT_EQ(forest.layout_fault(leaf("5")), too_deep);
}

TEST(ForestAnswers, ListsWhatIsBelowAGroup) {
  WorkloadForest forest;
  put(forest, composite("c"));
  put(forest, composite("m"), {.parent = "c"});
  put(forest, leaf("b"), {.parent = "m"});
  put(forest, leaf("a"), {.parent = "c"});
  forest.count_member(leaf("unknown"), Membership::Waiting, 1);
  const auto leaves = [&](const GroupKey& key) {
    Names out;
    forest.each_leaf(key, [&](const GroupKey& one) { out.push_back(one.name); });
    return out;
  };
  EXPECT_EQ(leaves(composite("c")), (Names{"a", "b"}));
  EXPECT_EQ(leaves(composite("m")), Names{"b"});
  EXPECT_EQ(leaves(leaf("b")), Names{"b"});
  EXPECT_EQ(leaves(leaf("unknown")), Names{"unknown"}) << "its object need not be there";
  EXPECT_EQ(leaves(leaf("nobody")), Names{});
  EXPECT_EQ(forest.children(composite("c")), (std::vector{leaf("a"), composite("m")}));
  EXPECT_TRUE(forest.children(composite("nobody")).empty());
}

TEST(ForestAnswers, ACopyIsAForestOfItsOwn) {
  WorkloadForest forest;
  put(forest, composite("c"), {.minimum = 2});
  for (const char* name : {"a", "b"}) put(forest, leaf(name), {.parent = "c", .minimum = 2});
  put(forest, leaf("web"), kBasic);
  forest.count_member(leaf("a"), Membership::Waiting, 1);
  forest.count_member(leaf("a"), Membership::Present, 1);
  forest.count_member(leaf("b"), Membership::Waiting, 1);
  forest.count_member(leaf("b"), Membership::Gated, 1);
  forest.count_member(leaf("web"), Membership::Waiting, 1);
  forest.set_disagreement(leaf("web"), true);
  WorkloadForest copy(forest);
  EXPECT_EQ(copy.size(), forest.size());
  EXPECT_EQ(copy.composite_changes(composite("c")), forest.composite_changes(composite("c")));
  EXPECT_FALSE(copy.loose(leaf("web")));
  copy.count_member(leaf("b"), Membership::Gated, -1);
  copy.count_member(leaf("b"), Membership::Waiting, 1);
  EXPECT_TRUE(copy.runnable(composite("c")));
  EXPECT_FALSE(forest.runnable(composite("c")));
  EXPECT_NE(copy.composite_changes(composite("c")), forest.composite_changes(composite("c")));
  copy.count_member(leaf("a"), Membership::Present, -1);
  EXPECT_FALSE(copy.ready(leaf("a")));
  EXPECT_FALSE(copy.runnable(composite("c")));
  copy.erase(leaf("a"));
  EXPECT_EQ(forest.children(composite("c")).size(), 2U);
  EXPECT_EQ(copy.children(composite("c")), std::vector{leaf("b")});
}

}  // namespace
}  // namespace muster::scheduler
