#include "scheduler/placement/symmetry.h"

#include <algorithm>

namespace muster::scheduler {

Symmetry::Symmetry(const GroupTree& tree, Workspace& workspace)
    : tree_(tree), workspace_(workspace) {}

void Symmetry::count_values() {
  if (counted_) return;
  counted_ = true;
  const Topology& topology = workspace_.topology();
  std::vector<std::size_t> distinct(tree_.keys.size(), 0);
  for (std::size_t c = 0; c < topology.cell_count(); ++c) {
    const auto cell = static_cast<CellId>(c);
    if (topology.nodes(cell).empty()) continue;
    for (std::size_t key = 0; key < tree_.keys.size(); ++key) {
      Value& value = values_[{key, value_in(cell, key)}];
      if (value.nodes == 0) ++distinct[key];
      value.nodes += static_cast<std::int64_t>(topology.nodes(cell).size());
    }
  }
  for (auto& [at, value] : values_)
    for (const GroupTree::Item& item : tree_.items)
      if (at.second != LabelValueId::Absent) {
        const std::string& name = topology.name_of(at.first, at.second);
        value.is_pinned |=
            (item.key == at.first && std::ranges::binary_search(item.pinned_to, name)) ||
            (item.preferred == at.first && std::ranges::binary_search(item.prefers_at, name));
      }
  for (std::size_t key = 0; key < tree_.keys.size(); ++key) keys_.push_back(key);
  std::ranges::stable_sort(keys_, {}, [&](std::size_t key) { return distinct[key]; });
}

LabelValueId Symmetry::value_in(CellId cell, std::size_t key) const {
  return workspace_.topology().value_of(workspace_.topology().nodes(cell).front(), key);
}

std::int64_t Symmetry::node_count(std::span<const CellId> cells) const {
  std::int64_t count = 0;
  for (const CellId cell : cells)
    count += static_cast<std::int64_t>(workspace_.topology().nodes(cell).size());
  return count;
}

// A name may be exchanged for another if all nodes that carry it are here, and no running member
// depends on it. Then renaming the domain maps every plan to a plan: no group can be constrained by
// the name anywhere else. Placements of plugins may overlap, and are never exchanged.
bool Symmetry::is_free_to_swap(std::span<const CellId> cells, std::size_t key,
                               LabelValueId value) const {
  if (value == LabelValueId::Absent || workspace_.topology().is_generated(key)) return false;
  const Value& known = values_.at({key, value});
  return !known.is_pinned && known.nodes == node_count(cells);
}

// Equal signatures mean that there is a one-to-one map between the nodes of two domains that
// preserves what is free, what fits, and who shares which value of every other key. Applied to a
// plan, it gives a plan in the other domain; so if one domain failed, the other fails.
Symmetry::Signature Symmetry::of_domain(const Domain& domain, std::size_t key) {
  count_values();
  if (domain.cells.empty() ||
      !is_free_to_swap(domain.cells, key, value_in(domain.cells.front(), key)))
    return {};
  std::vector<std::size_t> others = keys_;
  std::erase(others, key);
  Signature signature = of_cells(domain.cells, others);
  signature.push_back(0);  // never empty: a domain without room is like any other such
  return signature;
}

// Parts by the first key, each with the rest of the keys inside it. A part whose name may be
// exchanged is identified by what is in it; any other by its name as well.
Symmetry::Signature Symmetry::of_cells(std::span<const CellId> cells,
                                       const std::vector<std::size_t>& keys) {
  if (keys.empty()) return of_nodes(cells);
  std::map<LabelValueId, std::vector<CellId>> parts;
  for (const CellId cell : cells) parts[value_in(cell, keys.front())].push_back(cell);
  const std::vector<std::size_t> rest(keys.begin() + 1, keys.end());
  std::vector<Signature> signatures;
  for (const auto& [value, part] : parts) {
    Signature inner = of_cells(part, rest);
    if (inner.empty()) continue;  // nothing fits there, whatever it is called
    const bool swaps = is_free_to_swap(part, keys.front(), value);
    inner.push_back(swaps ? -1 : static_cast<std::int64_t>(index_of(value)));
    signatures.push_back(std::move(inner));
  }
  std::ranges::sort(signatures);
  Signature joined;
  for (const Signature& signature : signatures) {
    joined.insert(joined.end(), signature.begin(), signature.end());
    joined.push_back(static_cast<std::int64_t>(signature.size()));
  }
  return joined;
}

// The nodes of a part as a sorted list: which of them is which does not matter. A node that takes
// no pod of any class now takes none later either, since a search only adds pods, so it may be left
// out.
Symmetry::Signature Symmetry::of_nodes(std::span<const CellId> cells) {
  std::vector<Signature> signatures;
  for (const CellId cell : cells)
    for (const NodeId node : workspace_.topology().nodes(cell)) {
      Signature signature = of_node(node);
      const auto caps = signature.end() - static_cast<std::ptrdiff_t>(tree_.standings.size());
      if (std::any_of(caps, signature.end(), [](std::int64_t cap) { return cap > 0; }))
        signatures.push_back(std::move(signature));
    }
  std::ranges::sort(signatures);
  Signature joined;
  for (const Signature& signature : signatures)
    joined.insert(joined.end(), signature.begin(), signature.end());
  return joined;
}

// All that decides about pods of these classes here: free amounts decide how many fit in any
// mixture, caps say what the other filters allow. Valid only if no filter looks beyond its node;
// the search compares nothing otherwise.
Symmetry::Signature Symmetry::of_node(NodeId node) {
  const Cluster& cluster = workspace_.cluster();
  Signature signature{cluster.pod_slots()[node] - cluster.pods_on()[node]};
  for (const ResourceId resource : workspace_.tracked()) {
    const ResourceColumns& columns = cluster.resource(resource);
    signature.push_back(columns.allocatable[node] - columns.requested[node]);
  }
  for (std::size_t s = 0; s < tree_.standings.size(); ++s)
    signature.push_back(workspace_.cap(s, node));
  return signature;
}

std::uint32_t Symmetry::kind_of(NodeId node) {
  const auto known = kind_of_.find(node);
  if (known != kind_of_.end()) return known->second;
  Signature signature = of_node(node);
  signature.push_back(static_cast<std::int64_t>(index_of(workspace_.topology().cell_of(node))));
  const auto [at, is_new] =
      kinds_.emplace(std::move(signature), static_cast<std::uint32_t>(kinds_.size()));
  kind_of_.emplace(node, at->second);
  return at->second;
}

void Symmetry::clear_kinds() {
  kinds_.clear();
  kind_of_.clear();
}

}  // namespace muster::scheduler
