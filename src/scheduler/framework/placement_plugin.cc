#include "scheduler/framework/placement_plugin.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace muster::scheduler {

PlacementColumn::PlacementColumn(std::vector<std::string> names, std::size_t rows)
    : names_(std::move(names)) {
  list_of_.resize(rows);
  known_.emplace(List{}, 0);
}

void PlacementColumn::put(NodeId node, List placements) {
  const auto [at, is_new] =
      known_.try_emplace(std::move(placements), static_cast<std::uint32_t>(lists_.size()));
  if (is_new) lists_.push_back(at->first);
  list_of_[node] = at->second;
}

// Pairs are numbered in the order of nodes by name, so that the numbers do not depend on the order
// in which nodes came.
PlacementColumn intersect(const PlacementColumn& first, const PlacementColumn& second,
                          const Cluster& cluster) {
  using Pair = std::pair<PlacementColumn::Placement, PlacementColumn::Placement>;
  std::map<Pair, PlacementColumn::Placement> numbers;
  std::vector<std::string> names;
  std::set<std::string> taken;
  const auto number_of = [&](Pair pair) {
    const auto [at, is_new] =
        numbers.try_emplace(pair, static_cast<PlacementColumn::Placement>(names.size()));
    if (!is_new) return at->second;
    const std::string joined =
        fmt::format("{}/{}", first.names()[pair.first], second.names()[pair.second]);
    std::string name = joined;
    for (int again = 2; !taken.insert(name).second; ++again)
      name = fmt::format("{}~{}", joined, again);
    names.push_back(std::move(name));
    return at->second;
  };
  // Most nodes share their lists with others.
  std::map<std::pair<std::uint32_t, std::uint32_t>, PlacementColumn::List> joined;
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    const auto [at, is_new] =
        joined.try_emplace({first.list_of(node), second.list_of(node)}, PlacementColumn::List{});
    if (!is_new) continue;
    for (const auto a : first.at(node))
      for (const auto b : second.at(node)) at->second.push_back(number_of({a, b}));
    std::ranges::sort(at->second);
  }
  PlacementColumn column(std::move(names), cluster.rows());
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    column.put(node, joined.at({first.list_of(node), second.list_of(node)}));
  }
  return column;
}

}  // namespace muster::scheduler
