#include "scheduler/placement/topology.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace muster::scheduler {
namespace {

struct KeptTopologies final : Cluster::Derived {
  std::map<std::vector<std::string>, std::unique_ptr<Topology>> by_keys;
  std::uint64_t label_epoch = 0;
};

constexpr char kSlot = 0;             // its address is the key beside the cluster
constexpr std::size_t kKeptMax = 16;  // sets of keys in use at once

// Numbers pairs of small numbers in the order of their first sight.
class PairNumbers {
 public:
  std::uint32_t of(std::uint32_t first, std::uint32_t second) {
    const std::uint64_t pair = (std::uint64_t{first} << 32) | second;
    return numbers_.try_emplace(pair, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers_;
};

PlacementColumn generated_by(const GeneratedKey& key, Cluster& cluster) {
  const auto ask = [&cluster](const GeneratedKey::Part& part) {
    return part.plugin->generate(part.placements, cluster);
  };
  PlacementColumn column = ask(key.parts.front());
  for (std::size_t i = 1; i < key.parts.size(); ++i)
    column = intersect(column, ask(key.parts[i]), cluster);
  return column;
}

}  // namespace

Topology& Topology::of(Cluster& cluster, const std::vector<std::string>& keys,
                       std::span<const GeneratedKey> generated) {
  std::unique_ptr<Cluster::Derived>& slot = cluster.derived(&kSlot);
  if (slot == nullptr) slot = std::make_unique<KeptTopologies>();
  auto& kept = static_cast<KeptTopologies&>(*slot);
  if (kept.label_epoch != cluster.label_epoch() || kept.by_keys.size() > kKeptMax)
    kept.by_keys.clear();
  kept.label_epoch = cluster.label_epoch();
  std::unique_ptr<Topology>& topology = kept.by_keys[keys];
  if (topology == nullptr) topology = std::make_unique<Topology>(cluster, keys, generated);
  return *topology;
}

Topology::Topology(Cluster& cluster, const std::vector<std::string>& keys,
                   std::span<const GeneratedKey> generated)
    : columns_(watch(cluster, keys, generated)),
      division_(divide(cluster)),
      table_(cluster, division_) {
  list_nodes(cluster);
  all_cells_.reserve(cell_count());
  for (std::size_t cell = 0; cell < cell_count(); ++cell)
    all_cells_.push_back(static_cast<CellId>(cell));
}

std::vector<const LabelColumn*> Topology::watch(Cluster& cluster,
                                                const std::vector<std::string>& keys,
                                                std::span<const GeneratedKey> generated) {
  generated_.resize(keys.size());
  has_generated_ = !generated.empty();
  for (const GeneratedKey& key : generated) generate(cluster, key);
  std::vector<const LabelColumn*> columns;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    if (is_generated(key)) {
      columns.push_back(&generated_[key]->lists);
      continue;
    }
    labels_.push_back(cluster.hold_label(keys[key]));
    columns.push_back(&labels_.back().column());
  }
  return columns;
}

// Nodes in the same placements have the same value of the key. The list without any placement has
// number 0, which is "absent".
void Topology::generate(Cluster& cluster, const GeneratedKey& key) {
  auto made = std::make_unique<Generated>(Generated{generated_by(key, cluster), {}});
  made->lists.names.resize(made->placements.lists().size());
  made->lists.values.resize(cluster.rows());
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    made->lists.values.set(node, static_cast<LabelValueId>(made->placements.list_of(node)));
  }
  generated_[key.key] = std::move(made);
}

// Key by key, a node's values so far are one number; the numbers of the last key are the cells.
std::shared_ptr<const Division> Topology::divide(const Cluster& cluster) {
  auto division = std::make_shared<Division>();
  division->cell_of.resize(cluster.rows());
  std::vector<PairNumbers> numbers(columns_.size());
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    std::uint32_t cell = 0;
    for (std::size_t k = 0; k < columns_.size(); ++k)
      cell = numbers[k].of(cell, static_cast<std::uint32_t>(columns_[k]->values[node]));
    division->cell_of[node] = static_cast<CellId>(cell);
    if (cell < division->cell_count) continue;
    ++division->cell_count;
    for (const LabelColumn* column : columns_) values_.push_back(column->values[node]);
  }
  return division;
}

void Topology::list_nodes(const Cluster& cluster) {
  first_node_.assign(cell_count() + 1, 0);
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank)
    ++first_node_[index_of(cell_of(cluster.node_at(rank))) + 1];
  std::partial_sum(first_node_.begin(), first_node_.end(), first_node_.begin());
  nodes_.resize(cluster.node_count());
  std::vector<std::uint32_t> next(first_node_.begin(), first_node_.end() - 1);
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    nodes_[next[index_of(cell_of(node))]++] = node;
  }
}

std::span<const Domain> Topology::split(const Domain& within, std::size_t key) const {
  const auto [at, is_new] = splits_.try_emplace({within.cells.data(), key});
  if (is_new)
    at->second = is_generated(key) ? split_generated(within, key) : make_split(within, key);
  return at->second.domains;
}

std::vector<std::string> Topology::placements_of(NodeId node, std::size_t key) const {
  std::vector<std::string> names;
  const PlacementColumn& placements = generated_[key]->placements;
  for (const PlacementColumn::Placement placement : placements.at(node))
    names.push_back(placements.names()[placement]);
  std::ranges::sort(names);
  return names;
}

// A cell is in as many domains as its nodes are in placements.
Topology::Split Topology::split_generated(const Domain& within, std::size_t key) const {
  const PlacementColumn& placements = generated_[key]->placements;
  std::vector<std::vector<CellId>> cells(placements.names().size());
  std::size_t total = 0;
  for (const CellId cell : within.cells)
    for (const auto placement : placements.lists()[index_of(value_in(cell, key))]) {
      cells[placement].push_back(cell);
      ++total;
    }
  Split split;
  split.cells.reserve(total);
  for (std::size_t placement = 0; placement < cells.size(); ++placement) {
    if (cells[placement].empty()) continue;
    const std::size_t from = split.cells.size();
    split.cells.insert(split.cells.end(), cells[placement].begin(), cells[placement].end());
    split.domains.push_back({placements.names()[placement], std::span(split.cells).subspan(from)});
  }
  std::ranges::sort(split.domains, {}, &Domain::name);
  return split;
}

// Sorted by value, the cells of one domain are neighbours, and domains are spans of one list. The
// order among domains is by name: value numbers depend on the order in which labels were seen.
Topology::Split Topology::make_split(const Domain& within, std::size_t key) const {
  std::vector<std::pair<LabelValueId, CellId>> pairs;
  pairs.reserve(within.cells.size());
  for (const CellId cell : within.cells)
    if (const LabelValueId value = value_in(cell, key); value != LabelValueId::Absent)
      pairs.emplace_back(value, cell);
  std::ranges::sort(pairs);
  Split split;
  split.cells.reserve(pairs.size());
  for (const auto& [value, cell] : pairs) split.cells.push_back(cell);
  for (std::size_t from = 0, to = 0; from < pairs.size(); from = to) {
    while (to < pairs.size() && pairs[to].first == pairs[from].first) ++to;
    split.domains.push_back(
        {name_of(key, pairs[from].first), std::span(split.cells).subspan(from, to - from)});
  }
  std::ranges::sort(split.domains, {}, &Domain::name);
  return split;
}

std::size_t Topology::node_count(const Domain& domain) const {
  std::size_t count = 0;
  for (const CellId cell : domain.cells) count += nodes(cell).size();
  return count;
}

}  // namespace muster::scheduler
