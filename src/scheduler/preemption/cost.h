#pragma once

#include <boost/container/small_vector.hpp>

#include <compare>
#include <cstdint>
#include <utility>

#include "base/time.h"

namespace muster::scheduler {

// What an eviction costs. Compared in this order: violations of disruption budgets; the
// priorities of the pods that go, from the top; groups that are broken or ended; pods; work that is
// lost.
struct Cost {
  std::int64_t violations = 0;
  // Priorities with the number of pods, the highest first.
  boost::container::small_vector<std::pair<std::int32_t, std::int64_t>, 4> priorities;
  std::int64_t groups = 0;
  std::int64_t pods = 0;
  Duration lost = Duration::zero();

  void add(const Cost& other);
  // `count` pods of one priority.
  void add_pods(std::int32_t priority, std::int64_t count);
  bool is_nothing() const { return pods == 0; }

  friend bool operator==(const Cost&, const Cost&) = default;
  friend std::strong_ordering operator<=>(const Cost& a, const Cost& b);
};

}  // namespace muster::scheduler
