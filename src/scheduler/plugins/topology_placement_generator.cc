#include "scheduler/plugins/topology_placement_generator.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace muster::scheduler {

PlacementColumn TopologyPlacementGenerator::generate(std::string_view placements,
                                                     Cluster& cluster) const {
  const Cluster::LabelHold hold = cluster.hold_label(placements);
  const LabelColumn& label = hold.column();
  boost::unordered_flat_map<LabelValueId, PlacementColumn::Placement> numbers;
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const LabelValueId value = label.values[cluster.node_at(rank)];
    if (value == LabelValueId::Absent) continue;
    const auto number = static_cast<PlacementColumn::Placement>(names.size());
    if (numbers.try_emplace(value, number).second) names.push_back(label.names[index_of(value)]);
  }
  PlacementColumn column(std::move(names), cluster.rows());
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    const auto known = numbers.find(label.values[node]);
    if (known != numbers.end()) column.put(node, {known->second});
  }
  return column;
}

}  // namespace muster::scheduler
