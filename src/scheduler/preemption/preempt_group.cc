#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scheduler/framework/standings.h"
#include "scheduler/placement/options.h"
#include "scheduler/placement/placer.h"
#include "scheduler/preemption/cheapest.h"
#include "scheduler/preemption/eviction_draft.h"
#include "scheduler/preemption/group_search.h"
#include "scheduler/preemption/least_victims.h"
#include "scheduler/preemption/room_without_lower.h"
#include "scheduler/preemption/running_table.h"
#include "scheduler/preemption/victims.h"

namespace muster::scheduler {
namespace {

using Answer = PreemptionPlan::Answer;

PreemptionPlan answer(Answer kind, std::string_view text) {
  PreemptionPlan plan;
  plan.answer = kind;
  plan.message = fmt::format("{}{}", kGroupPreemption, text);
  return plan;
}
PreemptionPlan no_victims() {
  return answer(Answer::NoVictims, "No preemption victims found for incoming preemptor");
}
PreemptionPlan not_helpful() {
  return answer(Answer::NotHelpful, "no placement even without pods of lower priority");
}

// A way to place the tree, and what it costs.
struct Solution {
  Places places;
  std::vector<std::uint32_t> victims;  // units, the most important first
  Cost cost;
  std::int64_t placed = 0;
};

class GroupSearch {
 public:
  // Pods below `priority` may be counted on to leave.
  GroupSearch(ClusterModel& model, const GroupTree& tree, Workspace& workspace,
              std::int32_t priority, const PreemptionArgs& args, Time now)
      : model_(model),
        args_(args),
        tree_(tree),
        table_(model, {.priority = priority, .now = now, .patience = args.victim_patience}),
        workspace_(workspace),
        evictions_(tree_, workspace_, table_, steps_) {}

  PreemptionPlan run() {
    if (table_.empty()) return no_victims();
    evictions_.evict(table_.leaving());
    if (!table_.leaving().empty())
      if (std::optional<Solution> waits = place({})) return preempt(*waits);
    if (table_.units().empty()) return no_victims();
    std::optional<Solution> best = upstream_way();
    if (!best) return refuse();
    if (args_.mode == PreemptionArgs::Mode::Search) improve(*best);
    return preempt(*best);
  }

 private:
  bool spares_budgets() const { return !args_.violates_budgets; }
  bool is_upstream() const { return args_.mode == PreemptionArgs::Mode::Upstream; }
  bool is_spent() const { return steps_ > args_.steps_max; }

  void sort_by_importance(std::vector<std::uint32_t>& units) const {
    std::ranges::sort(units, [this](std::uint32_t a, std::uint32_t b) {
      return is_upstream() ? table_.is_more_important_upstream(a, b)
                           : table_.is_more_important(a, b);
    });
  }

  // Places the tree as the draft is, in the way of any attempt; the draft is left as it was.
  std::optional<Solution> place(const PlacementOptions& options) {
    const std::size_t before = workspace_.draft().moves().size();
    const Draft::Checkpoint undo = workspace_.draft().checkpoint();
    Placer placer(tree_, workspace_, options);
    result_ = placer.run();
    steps_ += placer.steps();
    if (result_ != SearchResult::Feasible) return std::nullopt;
    Solution solution;
    solution.places = evictions_.placed_since(before);
    solution.placed = std::ranges::count_if(
        solution.places, [](const std::optional<NodeId>& place) { return place.has_value(); });
    return solution;
  }

  // All lower pods gone, the tree placed there, and those that are not in its way put back.
  std::optional<Solution> upstream_way() {
    std::vector<std::uint32_t> all(table_.units().size());
    for (std::uint32_t unit = 0; unit < all.size(); ++unit) all[unit] = unit;
    std::optional<Solution> solution;
    {
      const Draft::Checkpoint undo = workspace_.draft().checkpoint();
      std::vector<char> stays(all.size(), 0);
      if (spares_budgets()) {
        sort_by_importance(all);
        const Violations violations(table_, model_.budgets(), all);
        for (std::size_t i = 0; i < all.size(); ++i) stays[i] = violations.any(i) ? 1 : 0;
      }
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!stays[i]) evictions_.evict(table_.pods_of(all[i]));
      solution = place({});
    }
    if (solution) reprieve(*solution, nullptr);
    return solution;
  }

  // The victims of a placement: of those in its way (or of `from`), the most important are put back
  // as long as every pod of the tree keeps its place. Units without a pod on a node of the tree are
  // in nobody's way, unless some filter looks beyond its node.
  void reprieve(Solution& solution, const std::vector<std::uint32_t>* from) {
    const Occupied occupied(tree_, solution.places);
    std::vector<std::uint32_t> units = from != nullptr ? *from : in_the_way(occupied);
    sort_by_importance(units);
    const Violations violations(table_, model_.budgets(), units);
    std::vector<char> goes(units.size(), 1);
    const Draft::Checkpoint undo = workspace_.draft().checkpoint();
    for (const std::uint32_t unit : units) evictions_.evict(relevant(unit, occupied));
    evictions_.place(solution.places);
    for (const bool violating : {true, false})
      for (std::size_t i = 0; i < units.size() && !is_spent(); ++i) {
        if (violations.any(i) != violating) continue;
        Draft::Checkpoint back = workspace_.draft().checkpoint();
        const std::vector<UnitTable::Pod> pods = relevant(units[i], occupied);
        evictions_.put_back(pods);
        if (!keeps_its_place(pods, occupied)) continue;
        back.keep();
        goes[i] = 0;
      }
    solution.victims.clear();
    for (std::size_t i = 0; i < units.size(); ++i)
      if (goes[i]) solution.victims.push_back(units[i]);
    solution.cost = cost_of(solution.victims);
  }

  std::vector<std::uint32_t> in_the_way(const Occupied& occupied) const {
    std::vector<std::uint32_t> units;
    if (evictions_.looks_far()) {
      units.resize(table_.units().size());
      for (std::uint32_t unit = 0; unit < units.size(); ++unit) units[unit] = unit;
      return units;
    }
    for (const Occupied::Node& at : occupied.nodes)
      for (const std::uint32_t pod : table_.on(at.node)) units.push_back(table_.pods()[pod].unit);
    std::ranges::sort(units);
    units.erase(std::ranges::unique(units).begin(), units.end());
    return units;
  }

  // The pods of a unit that can matter to the placement.
  std::vector<UnitTable::Pod> relevant(std::uint32_t unit, const Occupied& occupied) const {
    std::vector<UnitTable::Pod> pods;
    for (const UnitTable::Pod& pod : table_.pods_of(unit))
      if (evictions_.looks_far() || occupied.find(pod.node) != nullptr) pods.push_back(pod);
    return pods;
  }

  bool keeps_its_place(std::span<const UnitTable::Pod> pods, const Occupied& occupied) {
    if (evictions_.looks_far()) return evictions_.all_still_fit(occupied);
    return std::ranges::all_of(pods, [&](const UnitTable::Pod& pod) {
      return evictions_.still_fit(*occupied.find(pod.node));
    });
  }

  // With the violations that remain if exactly these go.
  Cost cost_of(const std::vector<std::uint32_t>& victims) const {
    Cost cost;
    const Violations violations(table_, model_.budgets(), victims);
    for (std::size_t i = 0; i < victims.size(); ++i) {
      table_.add_cost(victims[i], cost);
      cost.violations += violations.count(i);
    }
    return cost;
  }

  // --- better than upstream's way ---

  void improve(Solution& best) {
    if (cannot_be_less(best)) return;
    if (std::optional<Solution> cheap = cheapest_way(); cheap && is_better(*cheap, best))
      best = std::move(*cheap);
    spare_one_by_one(best);
  }

  // As many pods go as must, and all that could go count alike; or all that could go must.
  bool cannot_be_less(const Solution& best) {
    const std::int64_t least = least_for(best);
    if (least >= std::ssize(table_.pods())) return true;
    const auto units = table_.units();
    return best.cost.pods <= least && best.cost.violations == 0 &&
           std::ranges::all_of(units, [&](const UnitTable::Unit& unit) {
             return unit.group == 0 && unit.priority == units.front().priority;
           });
  }

  std::int64_t least_for(const Solution& best) {
    if (!least_)
      least_ =
          least_victims(tree_, workspace_, table_, best.placed == tree_.items.front().queued_below);
    return *least_;
  }

  bool is_better(const Solution& a, const Solution& b) const {
    return a.placed >= b.placed && a.cost < b.cost && !(spares_budgets() && a.cost.violations > 0);
  }

  std::optional<Solution> cheapest_way() {
    CheapestPlacer placer(tree_, workspace_, table_, model_.budgets(), evictions_, steps_,
                          {.spares_budgets = spares_budgets(), .steps_max = args_.steps_max});
    Solution solution;
    {
      const std::size_t before = workspace_.draft().moves().size();
      const Draft::Checkpoint undo = workspace_.draft().checkpoint();
      if (!placer.run()) return std::nullopt;
      solution.places = evictions_.placed_since(before);
    }
    solution.placed = std::ranges::count_if(
        solution.places, [](const std::optional<NodeId>& place) { return place.has_value(); });
    reprieve(solution, nullptr);
    return solution;
  }

  // Each victim in turn, the most important first: is there a place for the tree if it stays? Other
  // nodes may be chosen than before. What is left can spare nobody.
  void spare_one_by_one(Solution& best) {
    for (std::size_t i = 0; i < best.victims.size();) {
      const std::uint64_t worth = steps_ + tree_.members.size() * 2;
      if (worth > args_.steps_max || ++spared_ > kSpareTries) return;
      std::vector<std::uint32_t> others = best.victims;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      std::optional<Solution> without;
      {
        const Draft::Checkpoint undo = workspace_.draft().checkpoint();
        for (const std::uint32_t unit : others) evictions_.evict(table_.pods_of(unit));
        without = place(kNoSearch);
      }
      if (without) reprieve(*without, &others);
      if (without && is_better(*without, best))
        best = std::move(*without);
      else
        ++i;
    }
  }

  // --- answers ---

  PreemptionPlan refuse() const {
    PreemptionPlan plan =
        result_ == SearchResult::Unresolved
            ? answer(Answer::Unresolved,
                     "the search for a placement without pods of lower priority stopped at its "
                     "budget")
        : spares_budgets()
            ? answer(Answer::NotHelpful, "no placement without violating disruption budgets")
            : not_helpful();
    plan.steps = steps_;
    return plan;
  }

  PreemptionPlan preempt(const Solution& best) {
    PreemptionPlan plan = answer(best.victims.empty() ? Answer::Waits : Answer::Preempts, "");
    plan.steps = steps_;
    for (std::uint32_t member = 0; member < best.places.size(); ++member)
      if (best.places[member])
        plan.nominated.push_back(
            {tree_.members[member].pending->pod, model_.cluster().node_name(*best.places[member])});
    std::vector<std::uint32_t> victims = best.victims;
    sort_by_importance(victims);
    const Violations violations(table_, model_.budgets(), victims);
    for (std::size_t i = 0; i < victims.size(); ++i)
      plan.victims.push_back(
          victim_of(table_, model_.cluster(), victims[i], violations.exceeded[i]));
    for (const Occupied::Node& at : Occupied(tree_, best.places).nodes)
      for (const UnitTable::Pod& pod : table_.leaving_on(at.node))
        plan.leaving.push_back(table_.object(pod));
    if (plan.answer == Answer::Waits) {
      // None on its own nodes: some filter looks further.
      if (plan.leaving.empty())
        for (const UnitTable::Pod& pod : table_.leaving())
          plan.leaving.push_back(table_.object(pod));
      plan.message += "ongoing preemption on nominated nodes";
      return plan;
    }
    plan.victims_at_least = least_for(best);
    plan.message +=
        fmt::format("found a placement for podgroup, preempting {} victims (at least {} needed)",
                    plan.victim_pods(), plan.victims_at_least);
    return plan;
  }

  static constexpr int kSpareTries = 64;
  // For tries that are many and may fail: upstream's order, nothing revisited.
  static constexpr PlacementOptions kNoSearch{.mode = PlacementOptions::Mode::UpstreamOrder};

  ClusterModel& model_;
  const PreemptionArgs& args_;
  const GroupTree& tree_;
  const UnitTable table_;
  std::uint64_t steps_ = 0;
  int spared_ = 0;
  std::optional<std::int64_t> least_;
  SearchResult result_ = SearchResult::Infeasible;  // of the last placement
  Workspace& workspace_;
  EvictionDraft evictions_;
};

// Neither by the pods' own priorities nor by those of their groups.
bool is_nobody_lower(ClusterModel& model, std::int32_t priority) {
  const auto& running = RunningTable::of(model.cluster()).by_priority();
  return (running.empty() || running.begin()->first >= priority) &&
         !RoomWithoutLower(model, priority).has_victims();
}

}  // namespace

// Whether it would fit if all of them left is asked of columns first: only if it may is a table
// made of who they are. If there is nobody, not even the tree is gone through.
PreemptionPlan search_victims(ClusterModel& model, const Group& root, std::int32_t priority,
                              const PreemptionArgs& args, Time now) {
  if (is_nobody_lower(model, priority)) return no_victims();
  const GroupTree tree(root, model.cluster(),
                       Standings::of(model.cluster(), model.profile_of(root)));
  const RoomWithoutLower room(model, priority);
  Workspace workspace(model.cluster(), *tree.topology, tree.standings);
  if (!TreeWithoutLower(tree, workspace, room).may_be_placed())
    return room.has_victims() ? not_helpful() : no_victims();
  return GroupSearch(model, tree, workspace, priority, args, now).run();
}

}  // namespace muster::scheduler
