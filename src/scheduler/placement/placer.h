#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/framework/plan.h"
#include "scheduler/placement/bounds.h"
#include "scheduler/placement/budget.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/options.h"
#include "scheduler/placement/search.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// Finds places for a tree of groups. First upstream's way, in its order; where that misses a
// minimum, a search: for the whole tree if the root fails, otherwise for each group that was left
// out. Minimums come before extras. What is placed stays on the workspace's draft, each move tagged
// with the number of its member.
class Placer {
 public:
  Placer(const GroupTree& tree, Workspace& workspace, const PlacementOptions& options)
      : tree_(tree),
        workspace_(workspace),
        options_(options),
        bounds_(tree, workspace, budget_),
        domains_(tree.items.size()),
        results_(tree.items.size()) {}

  SearchResult run();

  // How each group fared in the plan on the draft.
  struct GroupResult {
    bool placed = false;
    bool unresolved = false;
  };
  bool is_placed(std::uint32_t item) const { return results_[item].placed; }
  // It found no place beside the others, but the search did not prove that there is none.
  bool is_unresolved(std::uint32_t item) const { return results_[item].unresolved; }
  // The domain the group was placed in; for one without a key, its parent's.
  const Domain& domain(std::uint32_t item) const { return domains_[item]; }
  std::uint64_t steps() const { return simulations_.steps + budget_.steps; }
  // Of leaves, along upstream's way. A domain that is looked at twice counts twice.
  const PlacementCounts& counts() const { return counts_; }
  // Whether the search stopped because its budget was spent.
  bool is_budget_spent() const { return budget_.steps_max > 0 && budget_.is_spent(); }
  Bounds& bounds() { return bounds_; }

 private:
  // Upstream's way. It has an allowance of its own, by which only comparing is limited: of a
  // group's domains the best by counting is always simulated, whatever that costs, and the others
  // while the allowance lasts. So any tree can be placed, at a cost that its own size bounds.
  bool evaluate(std::uint32_t item, const Domain& within);
  bool simulate(std::uint32_t item, const Domain& domain);
  // For the metrics: judging placements of a leaf starts, and ends; the second returns what it is
  // given. Composites are not counted.
  std::chrono::nanoseconds start_judging(std::uint32_t item) const;
  bool count(std::uint32_t item, bool is_feasible, std::chrono::nanoseconds since);
  void count_refused(std::uint32_t item, std::size_t refused, std::size_t judged,
                     std::chrono::nanoseconds since);
  bool simulate_leaf(std::uint32_t item, const Domain& domain);
  bool simulate_composite(std::uint32_t item, const Domain& domain);
  std::optional<NodeId> node_for(std::uint32_t member, Arena& arena);

  // Choosing among domains.
  struct Outlook {
    std::size_t candidate;
    std::uint32_t parts;  // see Domain
    std::int64_t at_most;
    bool holds_all;
    bool has_room;           // for the declared size, of a group that may still grow (L6)
    std::int64_t score = 0;  // if it holds all: what it would be worth, as far as counting shows
  };
  // The domain in which room was made for the group's pods, if any: it is tried first, and taken if
  // it still suffices (L20).
  const Domain* promised(std::uint32_t item, std::span<const Domain> candidates) const;
  void nominated_below(std::uint32_t item, std::vector<CellId>& cells) const;
  bool choose(std::uint32_t item, std::span<const Domain> candidates,
              std::vector<Outlook>& outlooks);
  std::size_t placements_to_score(std::span<const Domain> candidates) const;
  bool counts_alone(std::uint32_t item) const;
  bool has_room_to_grow(std::uint32_t item, const Domain& domain);
  // What a domain is worth to plugins: with what the draft holds, and with these further pods.
  class ViewBuilder;
  void rank(std::uint32_t item, std::span<const Domain> candidates,
            std::vector<Outlook>& outlooks) const;

  // Where upstream's way fails.
  SearchResult search(const Domain& everywhere);
  SearchResult search_for_new_pod(Search& search, const Domain& everywhere);
  void adopt(const Search& search);
  std::vector<std::uint32_t> add_left_out(Search& search);
  void place_extras(std::uint32_t leaf);
  void clear_results(std::uint32_t item);

  const GroupTree& tree_;
  Workspace& workspace_;
  PlacementOptions options_;
  Budget simulations_;  // of upstream's way: pods put on nodes, nodes seated
  Budget budget_;       // of the search, and all looking at bounds
  Bounds bounds_;
  std::vector<Domain> domains_;
  std::vector<GroupResult> results_;
  PlacementCounts counts_;
};

}  // namespace muster::scheduler
