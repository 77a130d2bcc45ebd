#pragma once

#include <cstdint>

namespace muster::scheduler {

// How a tree of groups is placed. UpstreamOrder: groups and pods as they come, nothing revisited.
// Search: where that misses a minimum, a search that may spend so much; see Budget.
struct PlacementOptions {
  enum class Mode : std::uint8_t { Search, UpstreamOrder };
  Mode mode = Mode::Search;
  std::uint64_t steps_max = 50'000;
  std::uint64_t work_max = 400'000;
};

}  // namespace muster::scheduler
