#pragma once

#include <string>
#include <string_view>

#include "scheduler/framework/placement_plugin.h"

namespace muster::scheduler {

// The nodes that share a value of the label that the group names as its topology key.
class TopologyPlacementGenerator final : public PlacementGenerate {
 public:
  static constexpr std::string_view kName = "TopologyPlacementGenerator";

  std::string placements_of(const GroupSpec& group) const override { return group.topology_key; }
  bool is_label() const override { return true; }
  PlacementColumn generate(std::string_view placements, Cluster& cluster) const override;
};

}  // namespace muster::scheduler
