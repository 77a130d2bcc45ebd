#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace muster::scheduler {

// Measures how long it takes to judge placements. It only looks.
struct PlacementTimer {
  std::function<std::chrono::nanoseconds()> stopwatch;
  // So many placements of a leaf were judged, in so long each.
  std::function<void(bool are_feasible, std::size_t placements, std::chrono::nanoseconds each)>
      judged;
};

// How a tree of groups is placed. UpstreamOrder: groups and pods as they come, nothing revisited.
// Search: where that misses a minimum, a search that may spend so much; see Budget.
struct PlacementOptions {
  enum class Mode : std::uint8_t { Search, UpstreamOrder };
  Mode mode = Mode::Search;
  std::uint64_t steps_max = 50'000;
  std::uint64_t work_max = 400'000;
  // Of the placements of a group that do not hold all of it, so many of a hundred are looked at
  // until the best is chosen. None: all; 0: upstream's share by the number of nodes.
  std::optional<std::int32_t> placements_percentage = {};
  // How much is said of a tree that found no place: for so many refused groups the reason is looked
  // for, the others have their parent's; and so many bounds of domains are listed in all.
  std::size_t explained_max = 1'000;
  std::size_t bounds_max = 20'000;
  const PlacementTimer* timer = nullptr;  // may be null
};

}  // namespace muster::scheduler
