#include "scheduler/groups/workload_forest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace muster::scheduler {
namespace {

GroupKey leaf(std::string name) { return {GroupKind::PodGroup, "ns", std::move(name)}; }
GroupKey composite(std::string name) {
  return {GroupKind::CompositePodGroup, "ns", std::move(name)};
}

GroupSpec gang(GroupKey key, std::int32_t minimum, std::string parent = {}) {
  GroupSpec group;
  group.key = std::move(key);
  group.gang = true;
  group.minimum = minimum;
  group.parent = std::move(parent);
  return group;
}

std::string text(const Group& group) {
  std::string out = group.key.name;
  if (!group.pods.empty()) out += "=" + std::to_string(group.pods.size());
  if (group.children.empty()) return out;
  out += "(";
  for (const Group& child : group.children) out += (out.back() == '(' ? "" : " ") + text(child);
  return out + ")";
}

// The tree below a root; each leaf that is not held back gets one pod, so that it shows.
std::string tree(const WorkloadForest& forest, const GroupKey& root) {
  return text(
      forest.build(root, [](const GroupKey&, std::vector<PendingPod>& pods) { pods.resize(1); }));
}

TEST(WorkloadForest, ALeafWithoutParentIsItsOwnRoot) {
  WorkloadForest forest;
  forest.set(gang(leaf("a"), 2));
  ASSERT_NE(forest.root_of(leaf("a")), nullptr);
  EXPECT_EQ(forest.root_of(leaf("a"))->key, leaf("a"));
  EXPECT_FALSE(forest.runnable(leaf("a")));
  forest.count_member(leaf("a"), Membership::Waiting, 1);
  EXPECT_FALSE(forest.ready(leaf("a")));
  forest.count_member(leaf("a"), Membership::Waiting, 1);
  EXPECT_TRUE(forest.runnable(leaf("a")));
}

TEST(WorkloadForest, HasNoRootWhileAnAncestorIsMissing) {
  WorkloadForest forest;
  forest.set(gang(leaf("a"), 1, "mid"));
  EXPECT_EQ(forest.root_of(leaf("a")), nullptr);
  EXPECT_EQ(forest.why_no_root(leaf("a")), "composite pod group \"mid\" does not exist");
  forest.set(gang(composite("mid"), 1, "top"));
  EXPECT_EQ(forest.why_no_root(leaf("a")), "composite pod group \"top\" does not exist");
  forest.set(gang(composite("top"), 1));
  ASSERT_NE(forest.root_of(leaf("a")), nullptr);
  EXPECT_EQ(forest.root_of(leaf("a"))->key, composite("top"));
  forest.erase(composite("mid"));
  EXPECT_EQ(forest.root_of(leaf("a")), nullptr);
  forest.set(gang(composite("mid"), 1, "top"));
  EXPECT_EQ(tree(forest, composite("top")), "top(mid(a))")
      << "a new object adopts the old children";
}

TEST(WorkloadForest, ACycleHasNoRootAndHeals) {
  WorkloadForest forest;
  forest.set(gang(leaf("l"), 1, "a"));
  forest.count_member(leaf("l"), Membership::Waiting, 1);
  forest.set(gang(composite("a"), 1, "b"));
  forest.set(gang(composite("b"), 1, "c"));
  forest.set(gang(composite("c"), 1, "a"));
  EXPECT_EQ(forest.root_of(leaf("l")), nullptr);
  EXPECT_NE(forest.why_no_root(leaf("l")).find("cycle detected"), std::string::npos);
  EXPECT_NE(forest.layout_fault(composite("b")), "");
  EXPECT_EQ(forest.layout_fault(leaf("l")), "") << "who hangs below a cycle is not to blame";
  forest.count_member(leaf("l"), Membership::Waiting, -1);
  forest.erase(composite("c"));
  forest.set(gang(composite("c"), 1));
  EXPECT_EQ(forest.root_of(leaf("l"))->key, composite("c"));
  EXPECT_FALSE(forest.ready(composite("c"))) << "nothing of what the cycle told itself is left";
  forest.count_member(leaf("l"), Membership::Waiting, 1);
  EXPECT_TRUE(forest.runnable(composite("c")));
}

TEST(WorkloadForest, AGroupMayNameItselfAsParent) {
  WorkloadForest forest;
  forest.set(gang(composite("a"), 1, "a"));
  EXPECT_EQ(forest.root_of(composite("a")), nullptr);
  forest.erase(composite("a"));
  EXPECT_EQ(forest.size(), 0U);
}

TEST(WorkloadForest, LeafAndCompositeOfOneNameStayApart) {
  WorkloadForest forest;
  forest.set(gang(composite("train"), 1));
  forest.set(gang(leaf("train"), 1, "train"));
  EXPECT_EQ(forest.root_of(leaf("train"))->key, composite("train"));
}

struct QuorumCase {
  const char* name;
  std::int32_t waiting, gated, present, minimum;
  const char* topology;
  bool ready, runnable;
};

TEST(WorkloadForest, CountsTheQuorumOfALeaf) {
  const QuorumCase cases[] = {
      {"below the minimum", 3, 0, 0, 4, "", false, false},
      {"reached", 4, 0, 0, 4, "", true, true},
      {"running members count", 1, 0, 3, 4, "", true, true},
      {"all are there already", 0, 0, 4, 4, "", true, false},
      {"a gated member does not count", 3, 1, 0, 4, "", false, false},
      {"a gated extra does not hold", 4, 1, 0, 4, "", true, true},
      {"but holds a constrained leaf", 4, 1, 0, 4, "rack", false, false},
      {"nobody at all", 0, 0, 0, 1, "", false, false},
  };
  for (const QuorumCase& c : cases) {
    SCOPED_TRACE(c.name);
    WorkloadForest forest;
    GroupSpec group = gang(leaf("a"), c.minimum);
    group.topology_key = c.topology;
    forest.set(group);
    forest.count_member(leaf("a"), Membership::Waiting, c.waiting);
    forest.count_member(leaf("a"), Membership::Gated, c.gated);
    forest.count_member(leaf("a"), Membership::Present, c.present);
    EXPECT_EQ(forest.ready(leaf("a")), c.ready);
    EXPECT_EQ(forest.runnable(leaf("a")), c.runnable);
    EXPECT_EQ(forest.has_pending(leaf("a")), c.waiting + c.gated > 0);
  }
}

// L4, L10: what is not ready is held back alone.
TEST(WorkloadForest, HoldsBackOnlyWhatIsNotReady) {
  WorkloadForest forest;
  forest.set(gang(composite("root"), 1));
  forest.set(gang(composite("c1"), 2, "root"));
  forest.set(gang(leaf("p11"), 1, "c1"));
  forest.set(gang(leaf("p12"), 10, "c1"));
  forest.set(gang(leaf("p2"), 1, "root"));
  forest.count_member(leaf("p11"), Membership::Waiting, 100);
  EXPECT_FALSE(forest.runnable(composite("root")));
  forest.count_member(leaf("p2"), Membership::Waiting, 1);
  EXPECT_TRUE(forest.runnable(composite("root")));
  EXPECT_EQ(tree(forest, composite("root")), "root(c1(p11 p12) p2=1)");
  forest.count_member(leaf("p12"), Membership::Waiting, 10);
  EXPECT_EQ(tree(forest, composite("root")), "root(c1(p11=1 p12=1) p2=1)");
}

std::size_t count_groups(const Group& group) {
  std::size_t count = 1;
  for (const Group& child : group.children) count += count_groups(child);
  return count;
}

// Any user may make groups; those without pods must not make every attempt expensive.
TEST(WorkloadForest, AnAttemptSeesSomeOfTheGroupsWithoutPods) {
  constexpr std::size_t kIdle = 3 * WorkloadForest::kIdleMax;
  WorkloadForest forest;
  forest.set(gang(composite("root"), 1));
  forest.set(gang(composite("empty"), 1, "root"));
  for (std::size_t i = 0; i < kIdle; ++i)
    forest.set(gang(leaf("e" + std::to_string(i)), 1, i % 2 == 0 ? "root" : "empty"));
  for (const char* name : {"waits", "runs", "gated"}) forest.set(gang(leaf(name), 2, "root"));
  forest.count_member(leaf("waits"), Membership::Waiting, 2);
  forest.count_member(leaf("runs"), Membership::Present, 1);
  forest.count_member(leaf("gated"), Membership::Gated, 1);
  ASSERT_TRUE(forest.runnable(composite("root")));
  const auto children = [](const WorkloadForest& of) {
    const Group root = of.build(
        composite("root"), [](const GroupKey&, std::vector<PendingPod>& pods) { pods.resize(1); });
    EXPECT_EQ(count_groups(root), 4 + WorkloadForest::kIdleMax);
    std::string found;
    for (const Group& child : root.children)
      if (!child.key.name.starts_with("e")) found += text(child) + " ";
    return found;
  };
  EXPECT_EQ(children(forest), "gated runs waits=1 ");
  EXPECT_EQ(children(WorkloadForest(forest)), "gated runs waits=1 ");

  forest.count_member(leaf("runs"), Membership::Present, -1);
  forest.count_member(leaf("gated"), Membership::Gated, -1);
  forest.erase(leaf("gated"));
  const std::string last = "e" + std::to_string(kIdle - 1);
  forest.count_member(leaf(last), Membership::Waiting, 1);
  const Group root = forest.build(
      composite("root"), [](const GroupKey&, std::vector<PendingPod>& pods) { pods.resize(1); });
  const auto empty = std::ranges::find(root.children, composite("empty"), &Group::key);
  ASSERT_NE(empty, root.children.end());
  EXPECT_NE(std::ranges::find(empty->children, leaf(last), &Group::key), empty->children.end());
  EXPECT_EQ(count_groups(root), 4 + WorkloadForest::kIdleMax) << "root, waits, empty and its leaf";
}

TEST(WorkloadForest, OrdersChildrenByAgeThenName) {
  WorkloadForest forest;
  forest.set(gang(composite("root"), 1));
  for (const auto& [name, age] : {std::pair{"b", 1}, {"c", 0}, {"a", 1}}) {
    GroupSpec group = gang(leaf(name), 1, "root");
    group.created = Time{std::chrono::seconds{age}};
    forest.set(group);
  }
  EXPECT_EQ(tree(forest, composite("root")), "root(c a b)");
}

TEST(WorkloadForest, ForgetsWhatNobodySpeaksOf) {
  WorkloadForest forest;
  forest.count_member(leaf("a"), Membership::Waiting, 1);
  forest.set(gang(leaf("a"), 1, "top"));
  forest.set(gang(composite("top"), 1));
  EXPECT_EQ(forest.size(), 2U);
  forest.erase(composite("top"));
  forest.erase(leaf("a"));
  forest.count_member(leaf("a"), Membership::Waiting, -1);
  EXPECT_EQ(forest.size(), 0U);
}

// One thing that may happen to the forest.
struct Step {
  enum class What { Set, Erase, Count } what;
  GroupSpec group;
  Membership membership = Membership::Waiting;
  std::int32_t change = 0;
};

void apply(WorkloadForest& forest, const Step& step) {
  switch (step.what) {
    case Step::What::Set: return forest.set(step.group);
    case Step::What::Erase: return forest.erase(step.group.key);
    case Step::What::Count:
      return forest.count_member(step.group.key, step.membership, step.change);
  }
}

std::string describe(const WorkloadForest& forest, int groups) {
  std::string out;
  for (int i = 0; i < groups; ++i)
    for (const GroupKey& key : {leaf(std::to_string(i)), composite(std::to_string(i))}) {
      const GroupSpec* root = forest.root_of(key);
      out += key.name + ":" + (root == nullptr ? "-" : root->key.name);
      if (root == nullptr || root->key != key) continue;
      out += fmt::format(" {}{}{} {}", forest.ready(key), forest.runnable(key),
                         forest.has_pending(key), tree(forest, key));
    }
  return out;
}

constexpr int kGroups = 6;

GroupSpec any_group() {
  const auto name = std::to_string(*rc::gen::inRange(0, kGroups));
  GroupSpec group =
      gang(*rc::gen::arbitrary<bool>() ? leaf(name) : composite(name), *rc::gen::inRange(1, 3));
  if (*rc::gen::inRange(0, 3) > 0) group.parent = std::to_string(*rc::gen::inRange(0, kGroups));
  if (*rc::gen::inRange(0, 4) == 0) group.topology_key = "rack";
  return group;
}

// Objects and members that exist at the end, in any order of arrival, give the same trees: also
// with cycles, which heal, and with objects that came and went before.
RC_GTEST_PROP(WorkloadForestProperty, ArrivalOrderDoesNotMatter, ()) {
  std::vector<Step> steps;
  std::map<GroupKey, GroupSpec> final_groups;
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    GroupSpec group = any_group();
    final_groups[group.key] = group;
  }
  for (const auto& [key, group] : final_groups) steps.push_back({Step::What::Set, group});
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    GroupSpec about;
    about.key = leaf(std::to_string(*rc::gen::inRange(0, kGroups)));
    steps.push_back({Step::What::Count, about,
                     *rc::gen::element(Membership::Waiting, Membership::Gated, Membership::Present),
                     1});
  }
  WorkloadForest straight;
  for (const Step& step : steps) apply(straight, step);

  std::mt19937 shuffle(*rc::gen::arbitrary<std::uint32_t>());
  std::ranges::shuffle(steps, shuffle);
  WorkloadForest winding;
  const auto detour = *rc::gen::inRange(0, 6);
  for (int i = 0; i < detour; ++i) winding.set(any_group());
  for (int i = 0; i < kGroups; ++i) {
    for (const GroupKey& key : {leaf(std::to_string(i)), composite(std::to_string(i))})
      if (!final_groups.contains(key)) winding.erase(key);
  }
  for (const Step& step : steps) apply(winding, step);
  RC_ASSERT(describe(straight, kGroups) == describe(winding, kGroups));
}

}  // namespace
}  // namespace muster::scheduler
