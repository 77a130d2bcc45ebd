#include "scheduler/plugins/node_set_placements.h"

#include <fmt/format.h>

#include <algorithm>

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

// A label cannot be taken away by setting another, and what a number must be beyond is not guessed.
std::optional<PlacementLabels::Labels> NodeSetPlacements::labels_to_join(
    std::string_view placement, const api::Object& node) const {
  const auto set = std::ranges::find(args_.sets, placement, &NodeSetPlacementsArgs::NodeSet::name);
  if (set == args_.sets.end() || set->selector.selects_nothing()) return std::nullopt;
  Labels labels;
  for (const api::LabelRequirement& requirement : set->selector.requirements()) {
    if (requirement.matches(node.meta().labels)) continue;
    switch (requirement.op()) {
      case api::LabelOperator::In:
      case api::LabelOperator::Equals:
      case api::LabelOperator::DoubleEquals:
        labels[requirement.key()] = requirement.values().front();
        break;
      case api::LabelOperator::Exists: labels[requirement.key()] = "true"; break;
      default: return std::nullopt;
    }
  }
  // One requirement may ask for what another forbids.
  Labels all = labels;
  all.insert(node.meta().labels.begin(), node.meta().labels.end());
  if (!set->selector.matches({all.begin(), all.end()})) return std::nullopt;
  return labels;
}

}  // namespace muster::scheduler
