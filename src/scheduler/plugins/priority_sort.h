#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace muster::scheduler {

// The order of the queue: higher priority first, then who has waited longer.
struct PrioritySort {
  static constexpr std::string_view kName = "PrioritySort";
  struct Place {
    std::int32_t priority;
    Time queued_at;
  };
  static bool goes_first(const Place& a, const Place& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.queued_at < b.queued_at;
  }
};

}  // namespace muster::scheduler
