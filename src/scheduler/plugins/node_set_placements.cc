#include "scheduler/plugins/node_set_placements.h"

#include <fmt/format.h>

namespace muster::scheduler {

NodeSetPlacements::NodeSetPlacements(NodeSetPlacementsArgs args) : args_(std::move(args)) {
  for (const NodeSetPlacementsArgs::NodeSet& set : args_.sets)
    text_ += fmt::format("{}: {}; ", set.name, set.selector.text());
}

PlacementColumn NodeSetPlacements::generate(std::string_view /*placements*/,
                                            Cluster& cluster) const {
  std::vector<std::string> names;
  for (const NodeSetPlacementsArgs::NodeSet& set : args_.sets) names.push_back(set.name);
  PlacementColumn column(std::move(names), cluster.rows());
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    PlacementColumn::List sets;
    for (std::size_t i = 0; i < args_.sets.size(); ++i)
      if (args_.sets[i].selector.matches(cluster.node_object(node)->meta().labels))
        sets.push_back(static_cast<PlacementColumn::Placement>(i));
    column.put(node, std::move(sets));
  }
  return column;
}

}  // namespace muster::scheduler
