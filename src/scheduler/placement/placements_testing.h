#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/framework/profiles.h"

// Placements for tests.
namespace muster::scheduler {

using Names = std::set<std::string>;
using Placements = std::map<std::string, Names>;  // nodes by placement

// Placements as a test wants them: some for roots, others for the groups below. None: it has
// nothing to say of these.
class GivenPlacements final : public PlacementGenerate {
 public:
  static constexpr std::string_view kName = "GivenPlacements";
  static constexpr std::string_view kRoot = "of the root";
  static constexpr std::string_view kChild = "of a child";
  explicit GivenPlacements(Placements root, Placements child = {})
      : root_(std::move(root)), child_(std::move(child)) {}

  std::string placements_of(const GroupSpec& group) const override {
    const bool is_root = group.parent.empty();
    if ((is_root ? root_ : child_).empty()) return {};
    return std::string(is_root ? kRoot : kChild);
  }
  PlacementColumn generate(std::string_view text, Cluster& cluster) const override {
    const Placements& placements = text == kRoot ? root_ : child_;
    std::vector<std::string> names;
    for (const auto& [name, nodes] : placements) names.push_back(name);
    PlacementColumn column(std::move(names), cluster.rows());
    for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
      const NodeId node = cluster.node_at(rank);
      PlacementColumn::List list;
      for (PlacementColumn::Placement number = 0; const auto& [name, nodes] : placements) {
        if (nodes.contains(cluster.node_name(node))) list.push_back(number);
        ++number;
      }
      column.put(node, std::move(list));
    }
    return column;
  }

 private:
  Placements root_;
  Placements child_;
};

// As the model does it when it reads groups.
inline void say_placements(const Profile& profile, Group& group) {
  group.placements = Profiles(profile).placements_of(group);
  for (Group& child : group.children) say_placements(profile, child);
}

}  // namespace muster::scheduler
