#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "scheduler/framework/placement_plugin.h"

namespace muster::scheduler {

// The more pods of the group a placement holds, the better.
class PodGroupPodsCount final : public PlacementScore {
 public:
  static constexpr std::string_view kName = "PodGroupPodsCount";

  std::int64_t score(const PlacementView& placement) const override { return placement.pods; }
  // A share of the most that any of them holds.
  void normalize(std::span<std::int64_t> scores) const override;
  bool looks_at_nodes() const override { return false; }
};

}  // namespace muster::scheduler
