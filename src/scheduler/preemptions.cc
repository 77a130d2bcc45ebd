#include "scheduler/preemptions.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/views/pod_facts.h"
#include "scheduler/groups/group_spec.h"
#include "scheduler/preemption/preemption.h"
#include "scheduler/preemption/running_table.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;
using api::view_of;

constexpr std::string_view kPlugin = "DefaultPreemption";

template <typename Visit>
void for_each_pod(const SchedulingQueue::Popped& entity, Visit&& visit) {
  if (const auto* lone = std::get_if<PendingPod>(&entity)) return visit(*lone);
  const auto walk = [&visit](const auto& self, const Group& group) -> void {
    for (const PendingPod& pending : group.pods) visit(pending);
    for (const Group& child : group.children) self(self, child);
  };
  walk(walk, std::get<Group>(entity));
}

bool may_be_helped(const Refusal& refusal) { return refusal.outcome == Outcome::Unschedulable; }

// The tree with these waiting pods alone.
Group only(Group root, const boost::unordered_flat_set<std::string_view>& uids) {
  const auto drop = [&uids](const auto& self, Group& group) -> void {
    std::erase_if(group.pods, [&](const PendingPod& pending) {
      return !uids.contains(pending.pod->meta().uid);
    });
    for (Group& child : group.children) self(self, child);
  };
  drop(drop, root);
  return root;
}

// Adds the result of preemption to each text, once: pods that repeat their group's message keep
// doing so.
void add_words(Plan& plan) {
  const std::string& words = plan.preemption->message;
  boost::unordered_flat_set<std::string_view> nominated;
  if (plan.preemption->found())
    for (const PreemptionPlan::Place& place : plan.preemption->nominated)
      nominated.insert(place.pod->meta().uid);
  for (Refusal& refusal : plan.refusals)
    if (nominated.contains(refusal.pod->meta().uid)) refusal.waits_for = WaitsFor::Evictions;
  for (GroupVerdict& verdict : plan.groups)
    if (verdict.outcome == Outcome::Unschedulable || verdict.outcome == Outcome::Unresolved)
      verdict.message += ", " + words;
  for (Refusal& refusal : plan.refusals)
    if (refusal.outcome == Outcome::Unschedulable || refusal.outcome == Outcome::Unresolved)
      refusal.message += ", " + words;
}

}  // namespace

Preemptions::Preemptions(ClusterModel& model, SchedulingQueue& queue, Report& report,
                         client::Calls& calls, Metrics* metrics)
    : model_(model),
      queue_(queue),
      report_(report),
      writes_({}, calls),
      evictor_(
          writes_,
          [this](const ObjectPtr& pod, Time now) { executions_.evicted(pod->meta().uid, now); },
          [this](const ObjectPtr& pod, const Error& error, Time now) { failed(pod, error, now); }),
      units_(writes_, {.decided = [this](const GroupKey& unit, const std::string& message,
                                         Time now) { report_.disrupted(unit, message, now); },
                       .failed = [this](const ObjectPtr& pod, const Error& error,
                                        Time now) { failed(pod, error, now); },
                       .refused = [this](const ObjectPtr& pod, const Error& error,
                                         Time now) { say_refused(pod, error, now); },
                       .deleted = [this](const ObjectPtr& pod,
                                         Time now) { executions_.evicted(pod->meta().uid, now); },
                       .ended = [this](const GroupKey& unit, Time now) { unit_ended(unit, now); }}),
      metrics_(metrics),
      executions_(metrics),
      reservations_(model, report, metrics) {}

Preemptions::Preemptor Preemptions::preemptor_of(const SchedulingQueue::Popped& entity) const {
  if (const auto* lone = std::get_if<PendingPod>(&entity))
    return {view_of(lone->pod).scheduler_name, "pod", lone->pod->meta().uid,
            view_of(lone->pod).priority};
  const auto& root = std::get<Group>(entity);
  std::string name;
  for_each_pod(entity, [&name](const PendingPod& pending) {
    if (name.empty()) name = view_of(pending.pod).scheduler_name;
  });
  return {std::move(name), root.key.kind == GroupKind::PodGroup ? "podgroup" : "compositepodgroup",
          root.object == nullptr ? std::string() : root.object->meta().uid, root.priority};
}

void Preemptions::consider(const SchedulingQueue::Popped& entity, Plan& plan, Time now) {
  if (const auto* lone = std::get_if<PendingPod>(&entity))
    consider_pod(*lone, plan, now);
  else
    consider_group(std::get<Group>(entity), plan, now);
  if (plan.preemption) metrics_.searched(preemptor_of(entity).kind, *plan.preemption);
}

void Preemptions::consider_pod(const PendingPod& pod, Plan& plan, Time now) {
  if (plan.refusals.size() != 1) return;
  Refusal& refusal = plan.refusals.front();
  const Profile& profile = model_.profile_of(*pod.pod);
  if (!profile.runs(kPlugin, ExtensionPoint::PostFilter)) return;
  // No node can be freed for it, and that is said without a search.
  if (const std::size_t nodes = model_.cluster().node_count();
      refusal.outcome == Outcome::Unresolvable && nodes > 0 && !view_of(pod.pod).never_preempts)
    refusal.message += fmt::format(
        " preemption: 0/{} nodes are available: {} Preemption is not helpful for scheduling.",
        nodes, nodes);
  if (refusal.outcome != Outcome::Unschedulable) return;
  if (const PreemptionPlan* known = known_failure(pod.pod)) {
    plan.preemption = *known;
  } else {
    plan.preemption = preempt_for_pod(model_, pod, profile.settings().preemption, now);
    if (!plan.preemption->found() && failed_searches_.size() < kFailedSearchesMax)
      failed_searches_.push_back({pod.pod, *plan.preemption});
  }
  plan.steps += plan.preemption->steps;
  refusal.message += " " + plan.preemption->message;
  if (plan.preemption->found()) refusal.waits_for = WaitsFor::Evictions;
}

void Preemptions::forget_outdated_failures() {
  const std::uint64_t now = model_.cluster().log().end();
  if (now == failed_at_) return;
  promises_changed();
  failed_at_ = now;
}

// Thousands of equal gangs that come at once cost one search.
PreemptionPlan Preemptions::search_for_tree(const Group& root, Time now) {
  forget_outdated_failures();
  const auto known = failed_trees_.find(root.shape);
  if (root.shape != 0 && known != failed_trees_.end()) return known->second;
  PreemptionPlan plan = make_room_for_group(model_, root, now);
  if (root.shape != 0 && !plan.found() && failed_trees_.size() < kFailedSearchesMax) {
    PreemptionPlan& kept = failed_trees_.emplace(root.shape, plan).first->second;
    kept.steps = 0;
  }
  return plan;
}

const PreemptionPlan* Preemptions::known_failure(const ObjectPtr& pod) {
  forget_outdated_failures();
  const api::PodView& view = view_of(pod);
  for (const FailedSearch& failed : failed_searches_) {
    const api::PodView& other = view_of(failed.pod);
    if (other.needs_hash == view.needs_hash && other.priority == view.priority &&
        other.never_preempts == view.never_preempts &&
        other.scheduler_name == view.scheduler_name && other.needs == view.needs)
      return &failed.plan;
  }
  return nullptr;
}

// For a tree that was refused, and for what is left over of one that was admitted before: a tree is
// admitted first, and looks for more room afterwards. What the same attempt binds is counted.
void Preemptions::consider_group(const Group& root, Plan& plan, Time now) {
  const Profile& profile = model_.profile_of(root);
  if (plan.groups.empty() || profile.group_post_filters().empty()) return;
  const PreemptionArgs& args = profile.settings().preemption;
  const Outcome outcome = plan.groups.front().outcome;
  const bool is_refused = outcome == Outcome::Unschedulable || outcome == Outcome::Unresolved;
  const bool has_leftovers = outcome == Outcome::Placed && was_scheduled(root) &&
                             std::ranges::any_of(plan.refusals, may_be_helped);
  // Nobody is evicted for a preference: the tree waits for its domain, and then takes others.
  if (is_refused && root.stops_insisting()) return;
  if (is_refused) {
    plan.preemption = search_for_tree(root, now);
    if (!plan.preemption->found()) plan.reservation = reservations_.consider(root, args, now);
    if (plan.reservation) plan.steps += plan.reservation->steps;
  } else if (has_leftovers) {
    boost::unordered_flat_set<std::string_view> left;
    for (const Refusal& refusal : plan.refusals)
      if (may_be_helped(refusal)) left.insert(refusal.pod->meta().uid);
    for (const Assignment& assignment : plan.assignments)
      model_.cluster().assume(assignment.pod, assignment.node);
    plan.preemption = make_room_for_group(model_, only(root, left), now);
    for (const Assignment& assignment : plan.assignments)
      model_.cluster().forget(assignment.pod->meta().uid);
  }
  if (!plan.preemption) return;
  plan.steps += plan.preemption->steps;
  add_words(plan);
}

void Preemptions::carry_out(const SchedulingQueue::Popped& entity, const Plan& plan, Time now) {
  const EntityKey key = queue_.key_of(entity);
  forget(key);
  const bool found = plan.preemption && plan.preemption->found();
  const Preemptor preemptor = preemptor_of(entity);
  nominate(entity, plan, preemptor.priority, now);
  for (const GroupVerdict& verdict : plan.groups)
    if (verdict.outcome == Outcome::Placed) end_disruption(verdict, now);
  if (const auto* tree = std::get_if<Group>(&entity); tree != nullptr && !plan.groups.empty())
    reservations_.decided(*tree, plan.reservation, now);
  // Who runs is asked for only if somebody was refused: the answer may cost all running pods.
  if (!plan.groups.empty() && !plan.assignments.empty() && !plan.refusals.empty() &&
      !plan.preemption && is_anybody_lower(preemptor.priority))
    for (const Refusal& refusal : plan.refusals)
      if (may_be_helped(refusal))
        leftovers_[plan.groups.front().key].push_back(refusal.pod->meta().uid);
  if (!found) return;
  executions_.started(preemptor.kind, uids_of(plan.preemption->victims), now);
  for (const VictimUnit& unit : plan.preemption->victims)
    evict(unit, preemptor, *plan.preemption, now);
  wait_for(key, *plan.preemption);
}

// Those that keep a node keep it; who gets none loses the one it had.
void Preemptions::nominate(const SchedulingQueue::Popped& entity, const Plan& plan,
                           std::int32_t priority, Time now) {
  std::map<std::string_view, const PreemptionPlan::Place*> places;
  const auto add = [&places](const std::vector<PreemptionPlan::Place>& nominated) {
    for (const PreemptionPlan::Place& place : nominated)
      places.emplace(place.pod->meta().uid, &place);
  };
  if (plan.preemption && plan.preemption->found()) add(plan.preemption->nominated);
  if (plan.reservation) add(plan.reservation->places);
  for_each_pod(entity, [&](const PendingPod& pending) {
    const std::string& uid = pending.pod->meta().uid;
    const auto at = places.find(uid);
    if (at == places.end()) {
      if (!model_.nominations().node_of(uid).empty()) clear_nomination(pending.pod, now);
      return;
    }
    clear_lower(at->second->node, priority, now);
    if (model_.nominations().node_of(uid) == at->second->node) return;
    model_.nominations().nominate(pending.pod, at->second->node);
    evictor_.nominate(pending.pod, at->second->node, now);
  });
}

void Preemptions::clear_nomination(const ObjectPtr& pod, Time now) {
  model_.nominations().clear(pod);
  evictor_.nominate(pod, {}, now);
}

// Others of lower priority counted on this node: they must look again (L21).
void Preemptions::clear_lower(std::string_view node, std::int32_t priority, Time now) {
  for (const ObjectPtr& pod : model_.nominations().lower_on(node, priority)) {
    clear_nomination(pod, now);
    EntityKey key = pod->meta().uid;
    if (const std::optional<GroupKey> leaf = model_.leaf_of(*pod))
      if (const GroupSpec* root = model_.forest().root_of(*leaf)) key = root->key;
    forget(key);
    queue_.release(key, now);
  }
}

void Preemptions::evict(const VictimUnit& unit, const Preemptor& preemptor,
                        const PreemptionPlan& plan, Time now) {
  const std::string why = fmt::format("{}: preempting to accommodate a higher priority {}",
                                      preemptor.scheduler_name, preemptor.kind);
  const std::string_view place =
      preemptor.kind == "pod" ? std::string_view(plan.nominated.front().node) : "cluster";
  const GroupSpec* const group = unit.group ? model_.forest().find(*unit.group) : nullptr;
  UnitEvictions::Unit together;
  for (const VictimUnit::Pod& victim : unit.pods) {
    if (group == nullptr)
      evictor_.evict(victim.pod, why, now);
    else
      together.pods.push_back(victim.pod);
    report_.preempted(
        victim.pod,
        fmt::format("Preempted by {} {} on node {}{}", preemptor.kind, preemptor.uid, place,
                    victim.exceeds.empty()
                        ? std::string()
                        : fmt::format(", against disruption budget {}", victim.exceeds)),
        now);
  }
  if (group == nullptr) return;
  together.key = group->key;
  together.group = group->object;
  together.message = why;
  units_.evict(std::move(together), now);
}

bool Preemptions::may_evict(const api::Object& pod) {
  const auto& view = pod.view<api::PodView>();
  return !view.never_preempts && is_anybody_lower(view.priority);
}

bool Preemptions::is_anybody_lower(std::int32_t priority) {
  const auto& by_priority = RunningTable::of(model_.cluster()).by_priority();
  return !by_priority.empty() && by_priority.begin()->first < priority;
}

void Preemptions::admitted(const GroupKey& root, Time now) {
  const auto at = leftovers_.find(root);
  if (at == leftovers_.end()) return;
  const std::vector<std::string> uids = std::move(at->second);
  leftovers_.erase(at);
  for (const std::string& uid : uids) queue_.retry(uid, now);
}

}  // namespace muster::scheduler
