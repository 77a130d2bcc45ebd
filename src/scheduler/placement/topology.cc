#include "scheduler/placement/topology.h"

#include <algorithm>
#include <map>
#include <memory>

namespace muster::scheduler {
namespace {

struct KeptTopologies final : Cluster::Derived {
  std::map<std::vector<std::string>, std::unique_ptr<Topology>> by_keys;
  std::uint64_t shape_epoch = 0;
};

constexpr char kSlot = 0;             // its address is the key beside the cluster
constexpr std::size_t kKeptMax = 16;  // sets of keys in use at once

}  // namespace

const Topology& Topology::of(Cluster& cluster, const std::vector<std::string>& keys) {
  std::unique_ptr<Cluster::Derived>& slot = cluster.derived(&kSlot);
  if (slot == nullptr) slot = std::make_unique<KeptTopologies>();
  auto& kept = static_cast<KeptTopologies&>(*slot);
  if (kept.shape_epoch != cluster.shape_epoch() || kept.by_keys.size() > kKeptMax)
    kept.by_keys.clear();
  kept.shape_epoch = cluster.shape_epoch();
  std::unique_ptr<Topology>& topology = kept.by_keys[keys];
  if (topology == nullptr) topology = std::make_unique<Topology>(cluster, keys);
  return *topology;
}

Topology::Topology(Cluster& cluster, const std::vector<std::string>& keys)
    : shape_epoch_(cluster.shape_epoch()) {
  for (const std::string& key : keys) columns_.push_back(&cluster.watch_label(key));
  cell_of_.resize(cluster.rows());
  std::map<std::vector<LabelValueId>, CellId> ids;
  std::vector<LabelValueId> values(keys.size());
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank) {
    const NodeId node = cluster.node_at(rank);
    for (std::size_t k = 0; k < keys.size(); ++k) values[k] = columns_[k]->values[node];
    const auto [at, is_new] = ids.emplace(values, static_cast<CellId>(cells_.size()));
    if (is_new) cells_.push_back({values, {}});
    cell_of_[node] = at->second;
    cells_[index_of(at->second)].nodes.push_back(node);
  }
}

Domain Topology::everywhere() const {
  Domain domain;
  domain.cells.reserve(cells_.size());
  for (std::size_t cell = 0; cell < cells_.size(); ++cell)
    domain.cells.push_back(static_cast<CellId>(cell));
  return domain;
}

std::vector<Domain> Topology::split(const Domain& within, std::size_t key) const {
  std::vector<std::pair<LabelValueId, CellId>> pairs;
  pairs.reserve(within.cells.size());
  for (const CellId cell : within.cells)
    if (const LabelValueId value = cells_[index_of(cell)].values[key];
        value != LabelValueId::Absent)
      pairs.emplace_back(value, cell);
  std::ranges::sort(pairs);
  std::vector<Domain> domains;
  LabelValueId last = LabelValueId::Absent;
  for (const auto& [value, cell] : pairs) {
    if (value != last) domains.push_back({name_of(key, value), {}});
    last = value;
    domains.back().cells.push_back(cell);
  }
  std::ranges::sort(domains, {}, &Domain::name);
  return domains;
}

std::size_t Topology::node_count(const Domain& domain) const {
  std::size_t count = 0;
  for (const CellId cell : domain.cells) count += nodes(cell).size();
  return count;
}

}  // namespace muster::scheduler
