#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// Which domains and nodes are as good as each other for everything a tree may still want:
// exchanging them would change names only. What it compares are whole values, never hashes, so a
// search may rely on it for a proof.
class Symmetry {
 public:
  using Signature = std::vector<std::int64_t>;

  Symmetry(const GroupTree& tree, Workspace& workspace);

  // Equal for domains of one key that are alike. Empty if this one must be taken as unique: nodes
  // elsewhere share its name, or running members bind some group to it.
  Signature of_domain(const Domain& domain, std::size_t key);
  // What is free on a node, and how many of each class it takes.
  Signature of_node(NodeId node);

  // The kind of a node at the time it is first asked for; equal kinds are alike and in one
  // cell.
  std::uint32_t kind_of(NodeId node);
  std::uint32_t known_kind(NodeId node) const { return kind_of_.at(node); }
  void clear_kinds();

 private:
  struct Value {
    std::int64_t nodes = 0;
    bool is_pinned = false;
  };

  void count_values();
  Signature of_cells(std::span<const CellId> cells, const std::vector<std::size_t>& keys);
  Signature of_nodes(std::span<const CellId> cells);
  LabelValueId value_in(CellId cell, std::size_t key) const;
  bool is_free_to_swap(std::span<const CellId> cells, std::size_t key, LabelValueId value) const;
  std::int64_t node_count(std::span<const CellId> cells) const;

  const GroupTree& tree_;
  Workspace& workspace_;
  bool counted_ = false;
  std::map<std::pair<std::size_t, LabelValueId>, Value> values_;
  std::vector<std::size_t> keys_;  // the coarsest first
  std::map<Signature, std::uint32_t> kinds_;
  std::map<NodeId, std::uint32_t> kind_of_;
};

}  // namespace muster::scheduler
