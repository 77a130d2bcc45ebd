#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/values/label_selector.h"
#include "scheduler/framework/placement_labels.h"
#include "scheduler/framework/placement_plugin.h"

namespace muster::scheduler {

struct NodeSetPlacementsArgs {
  struct NodeSet {
    std::string name;
    api::LabelSelector selector;  // of nodes
  };
  std::vector<NodeSet> sets = {};
};

// Every tree of groups goes into one of the named sets of nodes of its arguments, as a whole. The
// sets may overlap; a node may be in none. Ours; upstream has no such plugin.
class NodeSetPlacements final : public PlacementGenerate, public PlacementLabels {
 public:
  static constexpr std::string_view kName = "NodeSetPlacements";
  explicit NodeSetPlacements(NodeSetPlacementsArgs args);

  std::string placements_of(const GroupSpec& group) const override {
    return group.parent.empty() ? text_ : std::string();
  }
  PlacementColumn generate(std::string_view placements, Cluster& cluster) const override;
  std::optional<Labels> labels_to_join(std::string_view placement,
                                       const api::Object& node) const override;

 private:
  NodeSetPlacementsArgs args_;
  std::string text_;  // all sets; empty if there is none
};

}  // namespace muster::scheduler
