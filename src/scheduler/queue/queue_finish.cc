// Finish: the result of an attempt decides where the entity goes.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/queue/topology_refusal.h"

namespace muster::scheduler {
namespace {

// Rows of the node table that are read in the time of one step of the search.
constexpr std::uint64_t kRowsPerStep = 32;

// A group with more kinds of refused pods than this waits for any room that is made.
constexpr std::size_t kKindsMax = 64;

// Whether the refusal itself says what could help; otherwise time alone decides.
bool waits_for_events(Outcome outcome) {
  return outcome == Outcome::Unschedulable || outcome == Outcome::Unresolvable;
}

// How the root of a group's plan was refused; nullopt if it got what it needs.
std::optional<Outcome> refusal_of_root(const Plan& plan) {
  if (plan.groups.empty())
    return plan.assignments.empty() ? std::optional(Outcome::Unschedulable) : std::nullopt;
  const Outcome outcome = plan.groups.front().outcome;
  return outcome == Outcome::Placed ? std::nullopt : std::optional(outcome);
}

// In the order in which a tree is filled; null if it is empty.
const api::Object* first_pod(const Group& tree) {
  if (!tree.pods.empty()) return tree.pods.front().pod.get();
  for (const Group& child : tree.children)
    if (const api::Object* pod = first_pod(child)) return pod;
  return nullptr;
}

}  // namespace

void SchedulingQueue::finish(const Popped& entity, const Plan& plan, Time now) {
  const auto* group = std::get_if<Group>(&entity);
  Pod* single = group == nullptr ? nullptr : single_in_flight(*group);
  for (const Assignment& assignment : plan.assignments) placed(assignment.pod->meta().uid, now);
  const bool holds = plan.preemption && plan.preemption->found();
  for (const Refusal& refusal : plan.refusals) refused(refusal, holds, now);
  if (single != nullptr && single->state == State::InFlight)  // the plan did not mention it
    refused({single->facts.pod, Outcome::Unschedulable, "", {}}, holds, now);
  if (group == nullptr || !is_popped_whole(*group)) return;
  Entity& tree = *groups_.at(group->key);
  tree.cost = plan.steps + plan.rows_read / kRowsPerStep + tree.popped.size() * kStepsPerPod;
  finish_group(group->key, refusal_of_root(plan), holds, now);
}

SchedulingQueue::EntityKey SchedulingQueue::key_of(const Popped& entity) const {
  if (const auto* lone = std::get_if<PendingPod>(&entity)) return lone->pod->meta().uid;
  const auto& tree = std::get<Group>(entity);
  const api::Object* first = first_pod(tree);
  const Pod* pod = first == nullptr ? nullptr : find(first->meta().uid);
  if (pod != nullptr && pod->lone != nullptr) return pod->uid;
  return tree.key;
}

// The member that the tree was popped for, if it was for one by itself that is still there.
SchedulingQueue::Pod* SchedulingQueue::single_in_flight(const Group& tree) const {
  const api::Object* first = first_pod(tree);
  Pod* pod = first == nullptr ? nullptr : find(first->meta().uid);
  return pod != nullptr && pod->lone != nullptr && pod->lone->place == Place::InFlight ? pod
                                                                                       : nullptr;
}

bool SchedulingQueue::is_popped_whole(const Group& tree) const {
  const auto at = groups_.find(tree.key);
  if (at == groups_.end() || at->second->place != Place::InFlight) return false;
  const std::vector<std::string>& popped = at->second->popped;
  const api::Object* first = first_pod(tree);
  return first == nullptr || (!popped.empty() && popped.front() == first->meta().uid);
}

void SchedulingQueue::end_flight(Entity& entity) {
  CHECK(entity.place == Place::InFlight);
  move(entity, Place::Nowhere);
  flight_.end();
}

void SchedulingQueue::placed(std::string_view uid, Time now) {
  Pod* pod = find(uid);
  if (pod == nullptr || pod->state != State::InFlight)
    return;  // deleted or bound by others meanwhile
  set_state(*pod, State::Committing);
  if (pod->lone == nullptr) return;
  end_flight(*pod->lone);
  end_release(*pod->lone, true, now);
}

void SchedulingQueue::refused(const Refusal& refusal, bool holds, Time now) {
  Pod* pod = find(refusal.pod->meta().uid);
  if (pod == nullptr || pod->state != State::InFlight) return;
  const bool is_answer =
      waits_for_events(refusal.outcome) || refusal.outcome == Outcome::Unresolved;
  std::vector<std::string> plugins = is_answer ? refusal.plugins : std::vector<std::string>{};
  // It also waits for its domain to grow, which no plugin asks for.
  if (pod->domain_of != 0) plugins.emplace_back(kTopologyPlugin);
  pod->refused_by = resting_.intern(std::move(plugins));
  pod->queued_at = now;
  set_state(*pod, pod->facts.gated ? State::Gated : State::Waiting);
  if (pod->lone == nullptr) return;
  refused_lone(*pod, refusal.outcome, holds, now);
  if (!pod->is_member() || loose_.contains(*pod->facts.group)) return;
  queue_with_tree(*pod, now);
  touch(*pod->facts.group, true, now);
}

// Counts a failure and starts its backoff. A rejection ends a row of errors: the server answers
// again.
void SchedulingQueue::fail(Entity& entity, bool is_error, Time now) {
  if (is_error) {
    ++entity.failures.errors;
  } else {
    ++entity.failures.rejections;
    entity.failures.errors = 0;
  }
  entity.is_flushed = false;
  entity.timestamp = now;
  entity.expires = backoff_expiry(now, backoff_duration(options_.backoff, entity.failures.count()));
  if (options_.backoff.max <= Duration::zero()) entity.expires = Time::min();
}

void SchedulingQueue::enter_after_error(Entity& entity, Time now) {
  move(entity, backing_off(entity.expires, now) ? Place::ErrorBackoff : Place::Active);
}

void SchedulingQueue::refused_lone(Pod& pod, Outcome outcome, bool holds, Time now) {
  Entity& entity = *pod.lone;
  const bool waits = waits_for_events(outcome);
  const bool helped = waits && helped_in_flight(entity, pod, entity.priority);
  end_flight(entity);
  fail(entity, outcome == Outcome::Error, now);
  if (holds) {
    end_release(entity, true, now);
    return hold(entity, now);
  }
  if (pod.state == State::Gated) {
    end_release(entity, true, now);
    return move(entity, Place::Gated);
  }
  if (!waits) {
    end_release(entity, true, now);
    return enter_after_error(entity, now);
  }
  if (helped) {
    end_release(entity, true, now);
    return enter(entity, now);
  }
  rest(entity, now);
  resting_.join(entity, resting_.key_of(pod, entity.priority), pod.facts.pod);
  const WaitClass* stood_for = entity.released_from;
  if (stood_for != nullptr && stood_for != entity.classes.front()) {
    // It stood for the whole class, and now others refuse it than before. They would refuse its
    // peers too, which therefore move to its class without an attempt.
    const std::vector<Entity*> peers(stood_for->lone.begin(), stood_for->lone.end());
    for (Entity* peer : peers) {
      resting_.leave_classes(*peer);
      peer->pod->refused_by = pod.refused_by;
      resting_.join(*peer, resting_.key_of(*peer->pod, peer->priority), peer->pod->facts.pod);
    }
  }
  end_release(entity, false, now);
}

// What came back of a group's pods.
struct SchedulingQueue::Returned {
  std::size_t pods = 0;
  std::vector<const Pod*> kinds;  // one per kind of refusal
};

// Pods of one class that the same plugins refused are one kind: one wait class holds the group for
// all of them, however many they are.
SchedulingQueue::Returned SchedulingQueue::collect_returned(Entity& entity) {
  Returned returned;
  const Pod* unexplained = nullptr;
  std::set<std::pair<std::size_t, std::uint64_t>> known;  // plugins, class
  for (const std::string& uid : std::exchange(entity.popped, {})) {
    Pod* pod = find(uid);
    if (pod == nullptr) continue;
    if (pod->state == State::InFlight)  // the plan did not mention it
      set_state(*pod, pod->facts.gated ? State::Gated : State::Waiting);
    if (pod->state != State::Waiting) continue;
    ++returned.pods;
    if (pod->refused_by == nullptr || pod->refused_by->empty()) {
      pod->refused_by = resting_.intern({});
      if (unexplained == nullptr) unexplained = pod;
      continue;
    }
    const WaitClassKey key = resting_.key_of(*pod, 0);
    if (pod->facts.class_hash == 0 || known.emplace(key.plugins_rank, key.class_hash).second)
      returned.kinds.push_back(pod);
  }
  // Pods that fit although their group did not have no reason of their own; the reasons of those
  // that did not fit count for them.
  if (returned.kinds.empty() && unexplained != nullptr) returned.kinds.push_back(unexplained);
  return returned;
}

void SchedulingQueue::finish_group(const GroupKey& root, std::optional<Outcome> refusal, bool holds,
                                   Time now) {
  const auto at = groups_.find(root);
  CHECK(at != groups_.end() && at->second->place == Place::InFlight);
  Entity& entity = *at->second;
  const Returned returned = collect_returned(entity);
  // Asked before the flight ends: that may clear the log.
  const bool helped =
      entity.changed_in_flight || std::ranges::any_of(returned.kinds, [&](const Pod* pod) {
        return helped_in_flight(entity, *pod, entity.priority);
      });
  end_flight(entity);
  const GroupSpec* still = forest_.root_of(root);
  if (still == nullptr || still->key != root) {
    end_speech(entity, now);
    groups_.erase(at);
    return;
  }
  entity.priority = still->priority;
  if (refusal) {
    fail(entity, *refusal == Outcome::Error, now);
  } else {
    // What is left over starts to count again, and keeps its turn. Errors are forgiven when a
    // member is bound.
    entity.failures.rejections = returned.pods > 0 ? 1 : 0;
    entity.expires = Time::min();
  }
  if (!refusal || refusal == Outcome::Error) end_speech(entity, now);
  entity.is_flushed = false;
  update_loose_tree(entity, root, helped, now);
  if (entity.is_loose) return end_speech(entity, now);
  if (!model_.runnable(root)) {
    end_speech(entity, now);
    const bool pending = forest_.has_pending(root);
    return move(entity, pending ? Place::Gated : Place::Nowhere);
  }
  // Only pods that joined in flight, or none was popped since they are too many.
  if (returned.pods == 0) return is_too_large(root) ? rest(entity, now) : enter(entity, now);
  if (holds) {
    end_speech(entity, now);  // its peers may have victims of their own
    return hold(entity, now);
  }
  if (refusal == Outcome::Error) return enter_after_error(entity, now);
  rest_group(entity, returned, now);
  if (helped) wake_entity(entity, now);
}

// A group rests in one wait class per kind of refusal: what could help any of its pods could help
// it. One that must share a domain also waits for new domains, which no plugin asks for.
void SchedulingQueue::rest_group(Entity& entity, const Returned& returned, Time now) {
  rest(entity, now);
  if (returned.kinds.size() > kKindsMax) {
    resting_.join(entity, resting_.key_of(resting_.intern({}), entity.priority),
                  returned.kinds.front()->facts.pod);
  } else {
    for (const Pod* pod : returned.kinds)
      resting_.join(entity, resting_.key_of(*pod, entity.priority), pod->facts.pod);
  }
  const PluginSet* topology = resting_.intern({std::string(kTopologyPlugin)});
  const bool is_joined = std::ranges::any_of(
      returned.kinds, [&](const Pod* pod) { return pod->refused_by == topology; });
  if (entity.constrained && !is_joined)
    resting_.join(entity, resting_.key_of(topology, entity.priority),
                  returned.kinds.front()->facts.pod);
}

}  // namespace muster::scheduler
