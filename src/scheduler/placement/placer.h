#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/framework/plan.h"
#include "scheduler/placement/budget.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/search.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// Finds places for a tree of groups. First the way upstream goes, in its order; where that misses a
// minimum, a search: for the whole tree if the root fails, else for each group that was left out.
// Minimums come before extras. What is placed stays on the workspace's draft, each move tagged with
// the number of its member.
class Placer {
 public:
  struct Options {
    // What the search may spend; see Budget.
    std::uint64_t steps_max = 50'000;
    std::uint64_t work_max = 400'000;
    bool searches = true;  // false: only upstream's order ("mode upstream")
  };

  Placer(const GroupTree& tree, Workspace& workspace, Options options)
      : tree_(tree),
        workspace_(workspace),
        options_(options),
        domains_(tree.items.size()),
        placements_(tree.items.size()) {}

  SearchResult run();

  // How each group fared in the plan on the draft.
  struct Placement {
    bool placed = false;
    bool unresolved = false;
  };
  bool is_placed(std::uint32_t item) const { return placements_[item].placed; }
  // It has no place beside the others, but the search cannot say that there is none.
  bool is_unresolved(std::uint32_t item) const { return placements_[item].unresolved; }
  // The domain the group was placed in; for one without a key, its parent's.
  const Domain& domain(std::uint32_t item) const { return domains_[item]; }
  std::uint64_t steps() const { return budget_.steps; }

  // The domains a group may choose from inside another: one if it has no key.
  // Valid while `within` is.
  std::span<const Domain> candidates(std::uint32_t item, const Domain& within) const;

  // Upper bounds, valid for any way to place the subtree: somewhere inside `within`, and in a
  // domain of the group's own.
  std::int64_t fits_at_most(std::uint32_t item, const Domain& within);
  std::int64_t fits_in(std::uint32_t item, const Domain& domain);
  bool can_meet_minimum(std::uint32_t item, const Domain& within);
  bool meets_in(std::uint32_t item, const Domain& domain);
  DomainBound bound(std::uint32_t item, const Domain& domain);
  // Per tracked resource, then slots: the least that meeting the minimum takes.
  const std::vector<std::int64_t>& demand(std::uint32_t item);

  // The placement score of upstream's NodeResourcesFit (5.4), with requested extended resources
  // joining in, if these further pods were placed there.
  std::int64_t fullness(std::uint32_t item, const Domain& domain,
                        const std::vector<std::int32_t>& further) const;

 private:
  // Upstream's way.
  bool evaluate(std::uint32_t item, const Domain& within);
  bool simulate(std::uint32_t item, const Domain& domain);
  bool simulate_leaf(std::uint32_t item, const Domain& domain);
  bool simulate_composite(std::uint32_t item, const Domain& domain);
  struct Outlook {
    std::size_t candidate;
    std::int64_t at_most;
    std::int64_t score;  // fullness if at_most were all of them
    bool holds_all;
    bool has_room;  // for the declared size, of a group that may still grow (L6)
  };
  bool choose(std::uint32_t item, std::span<const Domain> candidates,
              std::vector<Outlook>& outlooks);
  bool counts_alone(std::uint32_t item) const;
  bool has_room_to_grow(std::uint32_t item, const Domain& domain);

  // Bounds.
  std::int64_t fits_by_totals(const GroupTree::Item& item, const Domain& domain);
  bool meets_with(std::uint32_t item, const Domain& domain, std::int64_t fits);
  std::vector<std::int64_t> least_demand(std::uint32_t item) const;
  bool demand_fits(std::uint32_t item, const Domain& domain);

  // Where upstream's way fails.
  SearchResult search(const Domain& everywhere);
  SearchResult search_for_new_pod(Search& search, const Domain& everywhere);
  void adopt(const Search& search);
  std::vector<std::uint32_t> add_left_out(Search& search);
  void place_extras(std::uint32_t leaf);
  void clear_placements(std::uint32_t item);

  const GroupTree& tree_;
  Workspace& workspace_;
  Options options_;
  std::vector<Domain> domains_;
  std::vector<Placement> placements_;
  std::vector<std::vector<std::int64_t>> demands_;
  Budget budget_;
};

}  // namespace muster::scheduler
