#pragma once

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/framework/draft.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/workspace.h"
#include "scheduler/preemption/cost.h"
#include "scheduler/preemption/unit_table.h"
#include "scheduler/preemption/victims.h"

namespace muster::scheduler {

// Where the members of a tree would go: a node for each that has one.
using Places = std::vector<std::optional<NodeId>>;

// The nodes that members go to, by row, and the classes of pods that each gets.
struct Occupied {
  struct Node {
    NodeId node;
    boost::container::small_vector<std::uint32_t, 2> classes;
  };
  std::vector<Node> nodes;

  Occupied(const GroupTree& tree, const Places& places);
  const Node* find(NodeId node) const;
};

// The draft of a tree's attempt with units taken away and given back on it. Moves of victims carry
// the tag kVictim.
class EvictionDraft {
 public:
  static constexpr std::uint32_t kVictim = UINT32_MAX;

  EvictionDraft(const GroupTree& tree, Workspace& workspace, const UnitTable& table,
                std::uint64_t& steps);

  Draft& draft() { return workspace_.draft(); }
  void evict(std::span<const UnitTable::Pod> pods);
  void put_back(std::span<const UnitTable::Pod> pods);
  // The pods of a unit on one node.
  std::vector<UnitTable::Pod> pods_on(std::uint32_t unit, NodeId node) const;

  bool fits(std::size_t class_index, NodeId node);
  // Places members on the given nodes without asking any filter.
  void place(const Places& places);
  // Whether every member on the node would be taken there beside all others.
  bool still_fit(const Occupied::Node& node);
  bool all_still_fit(const Occupied& occupied);
  // Some filter of the tree's pods looks beyond its node.
  bool looks_far() const { return looks_far_; }

  // Where members were placed by the moves after the first `moves`.
  Places placed_since(std::size_t moves) const;

 private:
  const GroupTree& tree_;
  Workspace& workspace_;
  const UnitTable& table_;
  std::uint64_t& steps_;
  bool looks_far_ = false;
};

}  // namespace muster::scheduler
