#include "scheduler/preemption/cost.h"

#include <algorithm>
#include <tuple>

namespace muster::scheduler {

void Cost::add_pods(std::int32_t priority, std::int64_t count) {
  pods += count;
  const auto at = std::ranges::lower_bound(priorities, priority, std::greater{},
                                           [](const auto& level) { return level.first; });
  if (at != priorities.end() && at->first == priority)
    at->second += count;
  else
    priorities.insert(at, {priority, count});
}

void Cost::add(const Cost& other) {
  violations += other.violations;
  for (const auto& [priority, count] : other.priorities) add_pods(priority, count);
  groups += other.groups;
  lost += other.lost;
}

// In effect the lists of priorities are compared pod by pod; a list that ends first is less. So at
// the first level where they differ the higher priority costs more, and at equal priority more pods
// do.
std::strong_ordering operator<=>(const Cost& a, const Cost& b) {
  if (const auto order = a.violations <=> b.violations; order != nullptr) return order;
  const auto order = std::lexicographical_compare_three_way(
      a.priorities.begin(), a.priorities.end(), b.priorities.begin(), b.priorities.end());
  if (order != nullptr) return order;
  return std::tie(a.groups, a.pods, a.lost) <=> std::tie(b.groups, b.pods, b.lost);
}

}  // namespace muster::scheduler
