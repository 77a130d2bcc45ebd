#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/framework/profile.h"

namespace muster::scheduler {

// How a profile's plugins score several placements of one group, compared with each other.
class PlacementScores {
 public:
  // Counted: only plugins that do not look at nodes are asked.
  enum class Asked : std::uint8_t { Counted, All };
  PlacementScores(const Profile& profile, Asked asked);

  static bool look_at_nodes(const Profile& profile);

  void add(const PlacementView& placement);
  // The weighted sums, in the order in which placements were added. No plugin gives less than 0 or
  // more than 100.
  std::vector<std::int64_t> totals();

 private:
  struct Column {
    const Profile::Entry<PlacementScore>* entry;
    std::vector<std::int64_t> scores;
  };
  std::vector<Column> columns_;
  std::size_t count_ = 0;
};

}  // namespace muster::scheduler
