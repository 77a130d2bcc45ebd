#include "scheduler/preemption/cost.h"

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <utility>

namespace muster::scheduler {
namespace {

using std::chrono::seconds;

// Pods by priority.
Cost cost_with(std::initializer_list<std::pair<std::int32_t, std::int64_t>> pods) {
  Cost cost;
  for (const auto& [priority, count] : pods) cost.add_pods(priority, count);
  return cost;
}

TEST(Cost, PrioritiesAreListedFromTheTopAndOnce) {
  const Cost cost = cost_with({{5, 1}, {9, 2}, {-3, 1}, {5, 4}});
  ASSERT_EQ(cost.priorities.size(), 3U);
  EXPECT_EQ(cost.priorities[0], (std::pair<std::int32_t, std::int64_t>{9, 2}));
  EXPECT_EQ(cost.priorities[1], (std::pair<std::int32_t, std::int64_t>{5, 5}));
  EXPECT_EQ(cost.priorities[2], (std::pair<std::int32_t, std::int64_t>{-3, 1}));
  EXPECT_EQ(cost.pods, 8);
  EXPECT_FALSE(cost.is_nothing());
  EXPECT_TRUE(Cost().is_nothing());
}

TEST(Cost, SumsAddEverything) {
  Cost sum = cost_with({{5, 1}});
  sum.violations = 1;
  sum.groups = 2;
  sum.lost = seconds{3};
  Cost more = cost_with({{5, 2}, {7, 1}});
  more.violations = 10;
  more.groups = 20;
  more.lost = seconds{30};
  sum.add(more);
  Cost want = cost_with({{7, 1}, {5, 3}});
  want.violations = 11;
  want.groups = 22;
  want.lost = seconds{33};
  EXPECT_EQ(sum, want);
}

// Each is more than the one before it.
TEST(Cost, IsComparedByViolationsPrioritiesGroupsPodsAndWorkInThisOrder) {
  std::vector<Cost> rising{Cost()};
  rising.push_back(cost_with({{1, 9}}));
  rising.push_back(cost_with({{2, 1}}));
  rising.push_back(cost_with({{2, 1}, {1, 1}}));
  rising.push_back(cost_with({{2, 2}}));
  rising.back().groups = 1;
  rising.push_back(rising.back());
  rising.back().lost = seconds{1};
  rising.push_back(rising.back());
  rising.back().pods += 1;
  rising.back().lost = {};
  rising.push_back(cost_with({{2, 2}}));
  rising.back().groups = 2;
  rising.push_back(cost_with({{3, 1}}));
  rising.push_back({});
  rising.back().violations = 1;
  for (std::size_t a = 0; a < rising.size(); ++a)
    for (std::size_t b = 0; b < rising.size(); ++b)
      EXPECT_EQ(rising[a] <=> rising[b], a <=> b) << a << " and " << b;
}

}  // namespace
}  // namespace muster::scheduler
