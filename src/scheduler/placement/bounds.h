#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/framework/plan.h"
#include "scheduler/placement/budget.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// What a group and the groups below it could get at most, as the draft is now, without placing
// anything. Every number is an upper bound for any way to place the subtree, so a bound below a
// minimum is a proof; a bound that reaches it proves nothing. Looking counts as work in the budget.
class Bounds {
 public:
  Bounds(const GroupTree& tree, Workspace& workspace, Budget& budget)
      : tree_(tree), workspace_(workspace), budget_(budget) {}

  // The domains a group may choose from inside another: one if it has no key. Members that run
  // already hold a group to their domain. Valid while `within` is.
  //
  // With a preferred key they are the domains of that key inside those of its own. Unless the group
  // insists, several of them joined follow, as few as may do first, and last all inside each domain
  // of its own key: candidates overlap, and the last ones hold all the others.
  std::span<const Domain> candidates(std::uint32_t item, const Domain& within);
  // The same without preferred keys: what fits in none of these fits in no candidate.
  std::span<const Domain> widest(std::uint32_t item, const Domain& within);

  // How many queued pods of the subtree fit: somewhere inside `within`, and in a domain of the
  // group's own.
  std::int64_t fits_at_most(std::uint32_t item, const Domain& within);
  std::int64_t fits_in(std::uint32_t item, const Domain& domain);
  // Whether the minimums may be met. False is a proof.
  bool can_meet_minimum(std::uint32_t item, const Domain& within);
  bool meets_in(std::uint32_t item, const Domain& domain);
  // The same for a leaf of which `fits` pods fit, by fits_in().
  bool meets_with(std::uint32_t item, std::int64_t fits) const {
    return tree_.items[item].missing() == 0 || fits >= tree_.items[item].missing();
  }
  DomainBound bound(std::uint32_t item, const Domain& domain);
  // Per tracked resource, then slots: the least that meeting the minimum takes.
  const std::vector<std::int64_t>& demand(std::uint32_t item);

 private:
  using Amounts = std::vector<std::pair<std::int64_t, std::int64_t>>;  // of one pod; pods

  // The candidates of a group with a preferred key, and what they are made of.
  struct Preferred {
    std::vector<Domain> domains;
    std::deque<std::vector<CellId>> cells;
    std::deque<std::string> names;
  };

  std::span<const Domain> required(std::uint32_t item, const Domain& within);
  std::span<const Domain> that_hold_all(std::uint32_t item, const Domain& within,
                                        std::span<const Domain> domains);
  Preferred preferred(std::uint32_t item, std::span<const Domain> required);
  void add_unions(std::uint32_t item, std::span<const Domain> parts, Preferred& out);
  const Amounts& smallest_first(std::uint32_t item, std::size_t tracked);
  std::int64_t fits_by_totals(std::uint32_t item, const Domain& domain);
  std::vector<std::int64_t> least_demand(std::uint32_t item);
  bool demand_fits(std::uint32_t item, const Domain& domain);

  const GroupTree& tree_;
  Workspace& workspace_;
  Budget& budget_;
  std::vector<std::vector<std::int64_t>> demands_;
  std::vector<Amounts> smallest_;  // by group and tracked resource; empty: not asked for yet
  // By group and the cells of `within`, see that_hold_all().
  std::map<std::pair<std::uint32_t, const CellId*>, std::vector<Domain>> holding_all_;
  // By group and the cells of `within`. Found once: the order in which domains are joined is a
  // guess, good or not, and must not change while a search goes on.
  std::map<std::tuple<std::uint32_t, const CellId*, std::size_t>, Preferred> preferred_;
};

}  // namespace muster::scheduler
