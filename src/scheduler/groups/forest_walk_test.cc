#include "scheduler/groups/forest_walk.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/groups/workload_forest.h"

namespace muster::scheduler {
namespace {

using Over = ForestWalk::Over;

GroupKey leaf(std::string name) { return {GroupKind::PodGroup, "ns", std::move(name)}; }
GroupKey composite(std::string name) {
  return {GroupKind::CompositePodGroup, "ns", std::move(name)};
}

void put(WorkloadForest& forest, const GroupKey& key, const std::string& parent = "") {
  GroupSpec group;
  group.key = key;
  group.parent = parent;
  forest.set(std::move(group));
}

std::string rest_of(const WorkloadForest& forest, ForestWalk& walk) {
  std::string out;
  while (const GroupKey* key = forest.next(walk)) out += (out.empty() ? "" : " ") + key->name;
  return out;
}
std::string groups_below(const WorkloadForest& forest, const GroupKey& top, Over over) {
  ForestWalk walk(top, over);
  return rest_of(forest, walk);
}

TEST(ForestWalk, VisitsWhatIsBelowByKey) {
  WorkloadForest forest;
  put(forest, leaf("b"), "r");
  put(forest, leaf("a"), "m");
  put(forest, composite("m"), "r");
  put(forest, composite("r"));
  EXPECT_EQ(groups_below(forest, composite("r"), Over::All), "r b m a");
  EXPECT_EQ(groups_below(forest, composite("m"), Over::All), "m a");
  EXPECT_EQ(groups_below(forest, leaf("b"), Over::All), "b");
  EXPECT_EQ(groups_below(forest, composite("r"), Over::Busy), "r");
  forest.count_member(leaf("a"), Membership::Waiting, 1);
  EXPECT_EQ(groups_below(forest, composite("r"), Over::Busy), "r m a");
}

TEST(ForestWalk, WalksACircleOnce) {
  WorkloadForest forest;
  put(forest, composite("a"), "b");
  put(forest, composite("b"), "a");
  put(forest, leaf("p"), "a");
  EXPECT_EQ(groups_below(forest, composite("a"), Over::All), "a p b");
  EXPECT_EQ(groups_below(forest, composite("b"), Over::All), "b a p");
}

TEST(ForestWalk, GoesOnAlthoughTheForestChanges) {
  WorkloadForest forest;
  put(forest, composite("r"));
  for (const char* name : {"a", "b", "c", "d"}) put(forest, leaf(name), "r");
  ForestWalk walk(composite("r"), Over::All);
  for (int i = 0; i < 3; ++i) forest.next(walk);
  forest.erase(leaf("b"));
  put(forest, leaf("bb"), "r");
  forest.erase(leaf("c"));
  EXPECT_EQ(rest_of(forest, walk), "bb d");
  ForestWalk other(composite("r"), Over::All);
  for (int i = 0; i < 2; ++i) forest.next(other);
  forest.erase(composite("r"));
  EXPECT_EQ(rest_of(forest, other), "bb d") << "their links stay";
}

// However groups are linked, a walk visits what each_group does.
RC_GTEST_PROP(ForestWalkProperty, VisitsEachGroupOnce, ()) {
  WorkloadForest forest;
  const auto links = *rc::gen::container<std::vector<std::tuple<int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 9), rc::gen::inRange(-1, 7)));
  const auto key_of = [](int i) {
    return i < 7 ? composite(std::to_string(i)) : leaf(std::to_string(i));
  };
  for (const auto& [which, parent] : links)
    put(forest, key_of(which), parent < 0 ? "" : std::to_string(parent));
  for (int i = 0; i < 9; ++i) {
    std::multiset<GroupKey> expected;
    forest.each_group(key_of(i), [&](const GroupSpec& group) { expected.insert(group.key); });
    std::multiset<GroupKey> visited;
    ForestWalk walk(key_of(i), Over::All);
    while (const GroupKey* key = forest.next(walk))
      if (forest.find(*key) != nullptr) visited.insert(*key);
    RC_ASSERT(visited == expected);
  }
}

}  // namespace
}  // namespace muster::scheduler
