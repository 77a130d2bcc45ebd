#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "api/views/pod_facts.h"
#include "scheduler/cycle/why_not.h"
#include "scheduler/framework/draft.h"
#include "scheduler/framework/standings.h"
#include "scheduler/preemption/least_on_node.h"
#include "scheduler/preemption/preemption.h"
#include "scheduler/preemption/victims.h"

namespace muster::scheduler {
namespace {

using Answer = PreemptionPlan::Answer;
using api::view_of;

constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";
constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";

// The victims on one node, in upstream's words for comparing nodes.
struct Candidate {
  NodeId node{};
  std::vector<std::uint32_t> units;                // the most important first
  std::vector<std::vector<std::string>> exceeded;  // by unit
  std::int64_t violations = 0;
  std::int32_t top = 0;  // priority of the first victim
  std::int64_t sum = 0;  // of priorities, each raised above 0
  std::int64_t pods = 0;
  Time start;  // the first start among those of the top priority

  // Fewer violations; a lower first victim; a smaller sum; fewer pods; the youngest.
  bool is_better_than(const Candidate& other) const {
    return std::tuple(violations, top, sum, pods, other.start) <
           std::tuple(other.violations, other.top, other.sum, other.pods, start);
  }
};

class PodSearch {
 public:
  PodSearch(ClusterModel& model, const PendingPod& pending, const PreemptionArgs& args, Time now)
      : model_(model),
        cluster_(model.cluster()),
        pending_(pending),
        args_(args),
        standing_(Standings::of(cluster_, model.profile_of(*pending.pod)).of_pod(pending.pod)),
        follower_(standing_),
        table_(model, {.priority = view_of(pending.pod).priority,
                       .now = now,
                       .patience = args.victim_patience}),
        room_(cluster_, standing_, table_),
        draft_(cluster_) {
    draft_.add_listener(follower_);
  }

  PreemptionPlan run() {
    if (const std::optional<NodeId> node = waits_on()) return wait_on(*node);
    std::optional<Candidate> best;
    for (std::uint32_t rank = 0; rank < cluster_.node_count() && !is_spent(); ++rank) {
      if (!is_worth_trying(cluster_.node_at(rank), best)) continue;
      std::optional<Candidate> candidate = try_node(cluster_.node_at(rank));
      if (candidate && (!best || candidate->is_better_than(*best))) best = std::move(candidate);
    }
    if (best) return preempt(*best);
    if (is_spent())
      return answer(Answer::Unresolved, "preemption: the search for victims stopped at its budget");
    return refuse();
  }

 private:
  bool is_spent() const { return steps_ > args_.steps_max; }
  bool fits(NodeId node) {
    ++steps_;
    return standing_.follows_moves() ? standing_.is_feasible(node) : standing_.key_now(node) != 0;
  }
  void evict(std::span<const UnitTable::Pod> pods) {
    for (const UnitTable::Pod& pod : pods) draft_.remove(*pod.pods, pod.node, 0);
    steps_ += pods.size();
  }
  void put_back(std::span<const UnitTable::Pod> pods) {
    for (const UnitTable::Pod& pod : pods) draft_.place(*pod.pods, pod.node, 0);
    steps_ += pods.size();
  }
  // The pods of a unit that can matter: those on the node, or all of them if some filter looks
  // further.
  std::vector<UnitTable::Pod> pods_in_the_way(std::uint32_t unit, NodeId node) const {
    std::vector<UnitTable::Pod> pods;
    for (const UnitTable::Pod& pod : table_.pods_of(unit))
      if (pod.node == node || standing_.follows_moves()) pods.push_back(pod);
    return pods;
  }
  std::vector<std::uint32_t> units_on(NodeId node) const {
    std::vector<std::uint32_t> units;
    for (const std::uint32_t pod : table_.on(node)) units.push_back(table_.pods()[pod].unit);
    std::ranges::sort(units, [this](std::uint32_t a, std::uint32_t b) {
      return args_.mode == PreemptionArgs::Mode::Upstream ? table_.is_more_important_upstream(a, b)
                                                          : table_.is_more_important(a, b);
    });
    units.erase(std::ranges::unique(units).begin(), units.end());
    return units;
  }

  // A node where it fits once those are gone that end already; the nominated one first.
  std::optional<NodeId> waits_on() {
    NodeId nominated{};
    if (!pending_.nominated.empty() && cluster_.find_node(pending_.nominated, nominated) &&
        fits_without_leaving(nominated))
      return nominated;
    for (std::uint32_t rank = 0; rank < cluster_.node_count() && !is_spent(); ++rank)
      if (const NodeId node = cluster_.node_at(rank); fits_without_leaving(node)) return node;
    return std::nullopt;
  }

  bool fits_without_leaving(NodeId node) {
    if (table_.leaving_on(node).empty() || !standing_.is_looked_at(node)) return false;
    const Draft::Checkpoint undo = draft_.checkpoint();
    evict(table_.leaving_on(node));
    return fits(node);
  }

  // Whether the node may be better than the best one so far. Pods there that end already, or that a
  // budget protects, make it hard to say without a draft.
  bool is_worth_trying(NodeId node, const std::optional<Candidate>& best) {
    if (!args_.violates_budgets || !table_.leaving_on(node).empty() ||
        !standing_.is_looked_at(node))
      return true;
    ++steps_;
    const std::optional<LeastOnNode::Least> least = room_.on(node);
    if (!least) return false;
    if (!best || best->violations > 0 || least->at_top == 0) return true;
    const bool is_worse = std::tuple(least->top, least->at_top * weight_of(least->top)) >
                          std::tuple(best->top, best->sum);
    // It counts for the least number of victims all the same, unless other filters refuse it.
    if (is_worse && least->pods < *least_) return true;
    return !is_worse;
  }

  std::optional<Candidate> try_node(NodeId node) {
    ++steps_;
    if (table_.on(node).empty() || !standing_.is_looked_at(node)) return std::nullopt;
    const Draft::Checkpoint undo = draft_.checkpoint();
    evict(table_.leaving_on(node));
    const std::vector<std::uint32_t> units = units_on(node);
    const Violations violations(table_, model_.budgets(), units);
    std::vector<char> goes(units.size(), 1);
    for (std::size_t i = 0; i < units.size(); ++i) {
      // A promise that must not be broken.
      if (!args_.violates_budgets && violations.any(i))
        goes[i] = 0;
      else
        evict(pods_in_the_way(units[i], node));
    }
    if (!fits(node)) return std::nullopt;
    least_ = std::min(least_.value_or(INT64_MAX), fewest_on(node, units, goes));
    // False if the budget ends before: pods may say themselves which node they are on, so there may
    // be any number of them.
    const auto reprieve = [&](bool violating) {
      for (std::size_t i = 0; i < units.size(); ++i) {
        if (!goes[i] || violations.any(i) != violating) continue;
        if (is_spent()) return false;
        Draft::Checkpoint back = draft_.checkpoint();
        put_back(pods_in_the_way(units[i], node));
        if (!fits(node)) continue;
        back.keep();
        goes[i] = 0;
      }
      return true;
    };
    if (!reprieve(true) || !reprieve(false)) return std::nullopt;
    Candidate candidate{.node = node, .units = {}, .exceeded = {}, .start = {}};
    for (std::size_t i = 0; i < units.size(); ++i)
      if (goes[i]) add(candidate, units[i], violations, i);
    return candidate;
  }

  // Priorities are summed so that each pod counts, also one below 0.
  static std::int64_t weight_of(std::int32_t priority) {
    return static_cast<std::int64_t>(priority) + (std::int64_t{1} << 31);
  }

  void add(Candidate& candidate, std::uint32_t unit, const Violations& violations,
           std::size_t index) const {
    const UnitTable::Unit& it = table_.units()[unit];
    if (candidate.units.empty() || it.priority > candidate.top) {
      candidate.top = it.priority;
      candidate.start = table_.start(unit);
    } else if (it.priority == candidate.top) {
      candidate.start = std::min(candidate.start, table_.start(unit));
    }
    candidate.units.push_back(unit);
    candidate.exceeded.push_back(violations.exceeded[index]);
    candidate.violations += violations.count(index);
    candidate.sum += static_cast<std::int64_t>(it.count) * weight_of(it.priority);
    candidate.pods += it.count;
  }

  // How many pods must leave the node at least: for each resource, the largest of them first. Those
  // that go are gone from the draft.
  std::int64_t fewest_on(NodeId node, const std::vector<std::uint32_t>& units,
                         const std::vector<char>& goes) const {
    std::int64_t least = 1;
    const PodClass& wanted = standing_.pods();
    std::vector<std::uint32_t> going;
    for (std::size_t i = 0; i < units.size(); ++i)
      if (goes[i]) going.push_back(units[i]);
    std::ranges::sort(going);
    std::vector<const UnitTable::Pod*> pods;
    for (const std::uint32_t pod : table_.on(node))
      if (std::ranges::binary_search(going, table_.pods()[pod].unit))
        pods.push_back(&table_.pods()[pod]);
    std::vector<std::int64_t> amounts(pods.size());
    const auto need = [&](std::int64_t missing) {  // once all are back
      std::ranges::sort(amounts, std::greater{});
      std::int64_t count = 0;
      for (; missing > 0 && count < std::ssize(amounts); ++count)
        missing -= amounts[static_cast<std::size_t>(count)];
      least = std::max(least, count);
    };
    for (const PodClass::Want& want : wanted.wants) {
      std::int64_t all = 0;
      for (std::size_t i = 0; i < pods.size(); ++i) {
        amounts[i] = 0;
        for (const PodClass::Want& used : pods[i]->pods->usage)
          if (used.resource == want.resource) amounts[i] = used.amount;
        all += amounts[i];
      }
      const ResourceColumns& column = cluster_.resource(want.resource);
      need(want.amount + column.requested[node] + all - column.allocatable[node]);
    }
    std::ranges::fill(amounts, 1);
    need(1 + cluster_.pods_on()[node] + std::ssize(pods) - cluster_.pod_slots()[node]);
    return least;
  }

  PreemptionPlan answer(Answer kind, std::string message) const {
    PreemptionPlan plan;
    plan.answer = kind;
    plan.message = std::move(message);
    plan.steps = steps_;
    return plan;
  }

  PreemptionPlan wait_on(NodeId node) const {
    PreemptionPlan plan =
        answer(Answer::Waits,
               cluster_.node_name(node) == pending_.nominated
                   ? "preemption: not eligible due to a terminating pod on the nominated node."
                   : fmt::format("preemption: waiting for terminating pods on node {}",
                                 cluster_.node_name(node)));
    plan.nominated.push_back({pending_.pod, cluster_.node_name(node)});
    for (const UnitTable::Pod& pod : table_.leaving_on(node))
      plan.leaving.push_back(table_.object(pod));
    return plan;
  }

  PreemptionPlan preempt(const Candidate& best) const {
    const std::string& node = cluster_.node_name(best.node);
    PreemptionPlan plan = answer(
        Answer::Preempts,
        fmt::format("preemption: found a potential placement for pod on node {}, preempting {} "
                    "victims (at least {} needed)",
                    node, best.pods, *least_));
    plan.victims_at_least = *least_;
    plan.nominated.push_back({pending_.pod, node});
    for (std::size_t i = 0; i < best.units.size(); ++i)
      plan.victims.push_back(victim_of(table_, cluster_, best.units[i], best.exceeded[i]));
    for (const UnitTable::Pod& pod : table_.leaving_on(best.node))
      plan.leaving.push_back(table_.object(pod));
    return plan;
  }

  PreemptionPlan refuse() {
    Histogram histogram;
    bool any = false;
    for (std::uint32_t rank = 0; rank < cluster_.node_count(); ++rank) {
      const NodeId node = cluster_.node_at(rank);
      if (!standing_.is_looked_at(node) || standing_.ask(node).verdict.remedy() == Remedy::None) {
        ++histogram.reasons[std::string(kNotHelpful)];
        continue;
      }
      if (table_.on(node).empty()) {
        ++histogram.reasons[std::string(kNoVictims)];
        continue;
      }
      any = true;
      const Draft::Checkpoint undo = draft_.checkpoint();
      evict(table_.leaving_on(node));
      for (const std::uint32_t unit : units_on(node)) evict(pods_in_the_way(unit, node));
      const Standing::Answer still = standing_.ask(node);
      if (still.verdict.accepted())
        ++histogram.reasons["evictions would violate disruption budgets"];
      for (const std::string_view reason : still.verdict.reasons())
        ++histogram.reasons[std::string(reason)];
    }
    return answer(any ? Answer::NotHelpful : Answer::NoVictims,
                  "preemption: " + histogram.text(cluster_.node_count()));
  }

  ClusterModel& model_;
  Cluster& cluster_;
  const PendingPod& pending_;
  const PreemptionArgs& args_;
  Standing& standing_;
  StandingFollower follower_;
  UnitTable table_;
  LeastOnNode room_;
  std::uint64_t steps_ = 0;
  std::optional<std::int64_t> least_;  // pods that must go, over all nodes
  Draft draft_;                        // last: it undoes its moves while the others are there
};

}  // namespace

PreemptionPlan preempt_for_pod(ClusterModel& model, const PendingPod& pod,
                               const PreemptionArgs& args, Time now) {
  PreemptionPlan plan;
  if (view_of(pod.pod).never_preempts) {
    plan.message = "preemption: not eligible due to preemptionPolicy=Never.";
    return plan;
  }
  return PodSearch(model, pod, args, now).run();
}

}  // namespace muster::scheduler
