#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/framework/plan.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// What the search can say in the end. Unresolved: the budget of steps was used up.
enum class Answer : std::uint8_t { Feasible, Infeasible, Unresolved };

// Finds places for a tree of groups. First the way upstream goes, in its order; only if that misses
// a minimum, a search: minimums before extras, hardest sibling first, bounded backtracking. What is
// placed stays on the workspace's draft, each move tagged with the number of its member.
class Placer {
 public:
  struct Options {
    // The search ends after this many steps (a pod put on a node, a domain tried), or this much
    // work spent on looking (domains bounded, nodes compared), whichever comes first. Both are
    // counted, never timed.
    std::uint64_t steps_max = 50'000;
    std::uint64_t work_max = 400'000;
    bool searches = true;  // false: only upstream's order ("mode upstream")
  };

  Placer(const GroupTree& tree, Workspace& workspace, Options options)
      : tree_(tree),
        workspace_(workspace),
        options_(options),
        domains_(tree.items.size()),
        fates_(tree.items.size()) {}

  Answer run();

  // How each group fared in the plan on the draft.
  struct Fate {
    bool placed = false;
  };
  bool is_placed(std::uint32_t item) const { return fates_[item].placed; }
  // The domain the group was placed in; for one without a key, its parent's.
  const Domain& domain(std::uint32_t item) const { return domains_[item]; }
  std::uint64_t steps() const { return steps_; }

  // The domains a group may choose from inside another: one if it has no key.
  std::vector<Domain> candidates(std::uint32_t item, const Domain& within) const;

  // Upper bounds, valid for any way to place the subtree.
  std::int64_t fits_at_most(std::uint32_t item, const Domain& domain);
  bool can_meet_minimum(std::uint32_t item, const Domain& domain);
  DomainBound bound(std::uint32_t item, const Domain& domain);

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
  bool choose(std::uint32_t item, const std::vector<Domain>& candidates,
              std::vector<Outlook>& outlooks);
  bool counts_alone(std::uint32_t item) const;
  bool has_room_to_grow(std::uint32_t item, const Domain& domain);

  // Bounds.
  std::int64_t fits_in(std::uint32_t item, const Domain& domain);
  std::int64_t fits_by_totals(const GroupTree::Item& item, const Domain& domain);
  bool meets_in(std::uint32_t item, const Domain& domain);
  // Per tracked resource, then slots: the least that meeting the minimum takes.
  std::vector<std::int64_t> least_demand(std::uint32_t item) const;
  const std::vector<std::int64_t>& demand(std::uint32_t item);
  bool demand_fits(std::uint32_t item, const Domain& domain);

  // Search.
  using Next = std::function<bool()>;
  bool search();
  bool place_minimum(std::uint32_t item, const Domain& within, const Next& next);
  bool place_minimum_in(std::uint32_t item, const Domain& domain, const Next& next);
  bool place_children(std::vector<std::uint32_t>& chosen, std::uint32_t item, std::size_t from,
                      const Domain& domain, const Next& next);
  bool place_in_turn(const std::vector<std::uint32_t>& chosen, std::size_t at, const Domain& domain,
                     const Next& next);
  bool pack_minimum(std::uint32_t item, const Domain& domain, const Next& next);
  bool pack(const std::vector<std::uint32_t>& chosen, const Domain& domain, bool tightly);
  bool packing_is_all_one() const;
  std::optional<NodeId> tightest(std::uint32_t shape, Arena& arena);
  std::uint64_t state_hash(std::uint32_t item) const;
  std::uint64_t bag_hash(const Domain& domain);
  bool pack_exactly(const std::vector<std::uint32_t>& chosen, std::size_t at, std::size_t from,
                    Arena& arena);
  void place_extras(std::uint32_t item);
  double weight_of(std::uint32_t member, const Domain& domain) const;
  double hardness(std::uint32_t item, const Domain& domain);
  bool step() {
    ++steps_;
    return !is_spent();
  }
  bool is_spent() const { return steps_ > options_.steps_max || work_ > options_.work_max; }
  void forget_fates(std::uint32_t item);

  const GroupTree& tree_;
  Workspace& workspace_;
  Options options_;
  std::vector<Domain> domains_;
  std::vector<Fate> fates_;
  std::vector<std::vector<std::int64_t>> demands_;
  std::uint64_t steps_ = 0;
  std::uint64_t work_ = 0;
  std::set<std::uint64_t>
      failed_;              // states from which a group and its later siblings found no place
  bool exhaustive_ = true;  // every branch that was cut was cut by a bound
};

}  // namespace muster::scheduler
