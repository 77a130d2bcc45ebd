#pragma once

#include <string>
#include <string_view>

#include "scheduler/framework/placement_plugin.h"

namespace muster::scheduler {

// A gang runs with at least as many pods, or children, as it says. Its checks before the queue and
// at binding are part of the engine.
class GangScheduling final : public PlacementFeasible {
 public:
  static constexpr std::string_view kName = "GangScheduling";

  PlacementStatus status(const GroupSpec& group, const PlacementProgress& progress) const override {
    return status_of(group.minimum, progress);
  }
  std::string reason(const GroupSpec& group, const PlacementProgress& progress) const override;
};

}  // namespace muster::scheduler
