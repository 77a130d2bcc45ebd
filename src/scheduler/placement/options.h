#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace muster::scheduler {

// Measures how long it takes to judge placements. Decides nothing.
struct PlacementTimer {
  std::function<std::chrono::nanoseconds()> stopwatch;
  // So many placements of a leaf were judged; each took this long.
  std::function<void(bool are_feasible, std::size_t placements, std::chrono::nanoseconds each)>
      judged;
};

// How a tree of groups is placed. UpstreamOrder: groups and pods as they come, nothing revisited.
// Search: where that misses a minimum, a search within this budget; see Budget.
struct PlacementOptions {
  enum class Mode : std::uint8_t { Search, UpstreamOrder };
  Mode mode = Mode::Search;
  std::uint64_t steps_max = 50'000;
  std::uint64_t work_max = 400'000;
  // How many bytes a search may use to remember where it failed; see FailedStates.
  std::size_t remembered_bytes_max = std::size_t{8} << 20U;
  // Of the placements of a group that do not hold all of it, this percentage is looked at before
  // the best is chosen. None: all; 0: upstream's share by the number of nodes.
  std::optional<std::int32_t> placements_percentage = {};
  // How much is reported about a tree that found no place: this many refused groups get a reason of
  // their own, the others their parent's; and this many bounds of domains are listed in all.
  std::size_t explained_max = 1'000;
  std::size_t bounds_max = 20'000;
  const PlacementTimer* timer = nullptr;  // may be null
};

}  // namespace muster::scheduler
