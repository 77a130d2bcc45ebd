#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/placement/bounds.h"
#include "scheduler/preemption/eviction_draft.h"
#include "scheduler/preemption/least_on_node.h"

namespace muster::scheduler {

// Finds places for a tree where the fewest and least important units are in the way: domain and
// victims are chosen together. Pods go in the order of the tree, each to the node where the next
// eviction costs least; a group goes to the domain where all of its pods cost least. Nothing is
// revisited, so that it may miss what upstream's way finds, and the better of both is taken.
class CheapestPlacer {
 public:
  struct Options {
    bool spares_budgets = false;  // units that violate a disruption budget stay
    std::uint64_t steps_max = 0;
  };

  CheapestPlacer(const GroupTree& tree, Workspace& workspace, const UnitTable& table,
                 const DisruptionBudgets& budgets, EvictionDraft& evictions, std::uint64_t& steps,
                 const Options& options);

  // Places the tree on the draft, with the units that are in its way taken off. If it misses a
  // minimum or the budget is spent: false, and the draft is unchanged.
  bool run();
  // The units that were taken off, by number.
  const std::vector<std::uint32_t>& victims() const { return victims_; }

 private:
  // What it costs to put one more pod on a node.
  struct Offer {
    Cost cost = {};
    std::int32_t room = 0;                  // how many of the class the node takes then
    std::vector<std::uint32_t> units = {};  // that must go
  };
  struct Ranked {
    Offer offer;  // only its cost, if it is a bound
    NodeId node{};
    std::uint32_t rank = 0;
    std::uint32_t version = 0;  // of the node when it was looked at
    bool is_bound = false;      // no offer yet: it costs at least this much
  };
  struct Result {
    std::int64_t placed = 0;
    bool ok = false;
  };

  bool is_spent() const { return steps_ > options_.steps_max; }
  Result place(std::uint32_t item, const Domain& within, const Cost* limit);
  std::vector<std::pair<Cost, std::size_t>> by_least(std::uint32_t item,
                                                     std::span<const Domain> domains);
  Cost least_in(std::uint32_t item, const Domain& domain);
  Result place_in(std::uint32_t item, const Domain& domain, const Cost* limit);
  Result place_leaf(std::uint32_t item, const Domain& domain, const Cost* limit);
  std::optional<Ranked> look_at(std::size_t class_index, NodeId node);
  std::optional<Ranked> judge(std::size_t class_index, NodeId node);
  std::optional<Offer> offer_on(std::size_t class_index, NodeId node);
  std::optional<Offer> put_back_in_order(std::size_t class_index, NodeId node,
                                         std::vector<std::uint32_t> units, bool by_size);
  double size_per_pod(std::uint32_t unit, NodeId node, std::size_t class_index) const;
  bool comes_first(const Ranked& a, const Ranked& b) const;
  void evict_unit(std::uint32_t unit);
  void truncate_victims(std::size_t victims);

  const GroupTree& tree_;
  Workspace& workspace_;
  const UnitTable& table_;
  const DisruptionBudgets& budgets_;
  EvictionDraft& evictions_;
  std::uint64_t& steps_;
  const Options options_;
  Budget looking_;  // what bounds spend; not limited here
  Bounds bounds_;
  std::vector<LeastOnNode> least_;  // by class
  std::vector<char> evicted_;       // by unit
  std::vector<std::uint32_t> victims_;
  Cost spent_;                          // of `victims_`
  std::vector<std::uint32_t> version_;  // by row: rises with every move on it
};

}  // namespace muster::scheduler
