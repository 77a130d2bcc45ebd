#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/queue/topology_refusal.h"

namespace muster::scheduler {
namespace {

bool is_constrained(const Group& group) {
  return group.has_topology() || std::ranges::any_of(group.children, is_constrained);
}

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

// --- Pop ---

void SchedulingQueue::move_expired(Time now) {
  while (!holds_.empty() && holds_.begin()->first <= now)
    end_hold(*holds_.begin()->second, Time::min(), now);
  for (auto* heap : {&backoff_, &error_backoff_})
    while (!heap->empty() && !backing_off((*heap->begin())->expires, now))
      move(**heap->begin(), Place::Active);
  while (!resting_.empty() && resting_.first().rest_since + options_.rest_max <= now)
    flush(resting_.first(), now);
  while (!retries_.empty() && retries_.begin()->first <= now)
    retry_in_time(*retries_.begin()->second, now);
}

PendingPod SchedulingQueue::start_attempt(Pod& pod) {
  pod.state = State::InFlight;
  ++pod.attempts;
  return {.pod = pod.facts.pod,
          .attempts = pod.attempts,
          .queued_at = pod.queued_at,
          .nominated = model_.nominations().node_of(pod.uid)};
}

// The first of the active ones. With none the first in backoff is popped early: waiting would only
// leave the scheduler idle. After an error it is not, time alone may help there.
std::optional<SchedulingQueue::Popped> SchedulingQueue::pop(Time now) {
  move_expired(now);
  const auto first = [this] { return active_.empty() ? *backoff_.begin() : *active_.begin(); };
  // What a pod says of itself counts for its tree, and the queue hears of it only here.
  while (has_runnable() && is_queued_wrong(*first()))
    touch(first()->root ? *first()->root : *first()->pod->facts.group, true, now);
  if (!has_runnable()) return std::nullopt;
  Entity& entity = *first();
  move(entity, Place::InFlight);
  entity.flight_start = flight_.start();
  entity.changed_in_flight = false;
  if (!entity.root) {
    if (entity.pod->is_member()) return tree_of_single(*entity.pod, now);
    return start_attempt(*entity.pod);
  }

  return pop_tree(entity, now);
}

Group SchedulingQueue::pop_tree(Entity& entity, Time now) {
  CHECK(entity.popped.empty());
  std::map<GroupKey, std::uint64_t> classes;  // by leaf: its pods, summed
  Group root = model_.build(
      *entity.root,
      [&](const GroupKey& leaf, std::vector<PendingPod>& out) {
        classes[leaf] = fill_leaf(entity, leaf, out);
      },
      now);
  entity.constrained = is_constrained(root);
  // No room is kept for a tree that insists on a domain: it ages when it takes any.
  entity.retry_at = root.stops_insisting();
  entity.retries_by_age = !entity.retry_at;
  if (entity.retries_by_age && root.waits_since && now - *root.waits_since < options_.aged_after &&
      options_.aged_after != Duration::max())
    entity.retry_at = *root.waits_since + options_.aged_after;
  const std::uint64_t shape =
      shape_of(root, entity.sequence,
               {.pods_of = [&](const GroupKey& leaf) { return classes[leaf]; },
                .is_pinned =
                    [&](const GroupKey& leaf) {
                      return model_.count(leaf, PodRole::Running) > 0 ||
                             model_.count(leaf, PodRole::Succeeded) > 0;
                    }});
  if (!is_like_no_other(shape)) root.shape = shape;
  if (shape != entity.shape) {
    end_speech(entity, now);  // of what it was
    entity.shape = shape;
  }
  return root;
}

// A tree that is loose by now, or a member by itself whose tree is not.
bool SchedulingQueue::is_queued_wrong(const Entity& entity) const {
  if (entity.root) return model_.loose(*entity.root);
  return entity.pod->is_member() && !model_.loose(*entity.pod->facts.group);
}

// The waiting pods of a leaf in upstream's order: those that were tried more often go first, so
// that a leaf with too many pods does not start over with others each time. Returns the sum of
// their classes, or 0 if one is like no other.
std::uint64_t SchedulingQueue::fill_leaf(Entity& entity, const GroupKey& leaf,
                                         std::vector<PendingPod>& out) {
  const auto at = pending_.find(leaf);
  if (at == pending_.end()) return 0;
  std::vector<Pod*> pods;
  for (Pod* pod : at->second)
    if (pod->state == State::Waiting && pod->lone == nullptr) pods.push_back(pod);
  std::ranges::sort(pods, [](const Pod* a, const Pod* b) {
    if (a->facts.priority != b->facts.priority) return a->facts.priority > b->facts.priority;
    if (a->attempts != b->attempts) return a->attempts > b->attempts;
    if (a->queued_at != b->queued_at) return a->queued_at < b->queued_at;
    return a->facts.pod->meta().name < b->facts.pod->meta().name;
  });
  out.reserve(pods.size());
  std::uint64_t sum = 0;
  bool are_classed = true;
  for (Pod* pod : pods) {
    out.push_back(start_attempt(*pod));
    entity.popped.push_back(pod->uid);
    are_classed = are_classed && pod->facts.class_hash != 0 && out.back().nominated.empty();
    sum += spread_bits(pod->facts.class_hash);
  }
  return are_classed ? sum : 0;
}

// --- Finish ---

void SchedulingQueue::finish(const Popped& entity, const Plan& plan, Time now) {
  const auto* group = std::get_if<Group>(&entity);
  Pod* single = group == nullptr ? nullptr : single_in_flight(*group);
  for (const Assignment& assignment : plan.assignments) placed(assignment.pod->meta().uid, now);
  const bool holds = plan.preemption && plan.preemption->found();
  for (const Refusal& refusal : plan.refusals) refused(refusal, holds, now);
  if (single != nullptr && single->state == State::InFlight)  // the plan did not mention it
    refused({single->facts.pod, Outcome::Unschedulable, "", {}}, holds, now);
  if (group == nullptr || !is_popped_whole(*group)) return;
  groups_.at(group->key)->cost = plan.steps + plan.rows_read / kRowsPerStep;
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
  // Pods that fit while the group did not know no reason; those that did not fit speak for them.
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
  update_loose_tree(entity, root, helped, now);
  if (entity.is_loose) return end_speech(entity, now);
  if (!model_.runnable(root)) {
    end_speech(entity, now);
    const bool pending = forest_.has_pending(root);
    return move(entity, pending ? Place::Gated : Place::Nowhere);
  }
  if (returned.pods == 0) return enter(entity, now);  // only pods that joined in flight
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

// --- Bindings ---

void SchedulingQueue::bound(const GroupKey& leaf) {
  const GroupSpec* root = forest_.root_of(leaf);
  if (root == nullptr) return;
  if (const auto at = groups_.find(root->key); at != groups_.end()) at->second->failures = {};
}

// A pod whose binding failed waits again; false if it is not ours to bind any more.
bool SchedulingQueue::return_to_waiting(std::string_view uid, Time now) {
  Pod* pod = find(uid);
  if (pod == nullptr || pod->state != State::Committing) return false;
  pod->queued_at = now;
  pod->refused_by = nullptr;
  set_state(*pod, pod->facts.gated ? State::Gated : State::Waiting);
  if (pod->is_member()) update_stranded(*pod->facts.group, now);
  return true;
}

// The binding of a pod that is queued by itself failed.
void SchedulingQueue::fail_alone(Pod& pod, Time now) {
  end_release(*pod.lone, true, now);
  move(*pod.lone, Place::Nowhere);
  fail(*pod.lone, true, now);
  set_lone(pod, {}, now);
}

void SchedulingQueue::bind_failed(std::string_view uid, Time now) {
  if (!return_to_waiting(uid, now)) return;
  Pod& pod = *find(uid);
  if (!pod.is_member()) return fail_alone(pod, now);
  const GroupKey& leaf = *pod.facts.group;
  const GroupSpec* root = forest_.root_of(leaf);
  const auto at = root == nullptr ? groups_.end() : groups_.find(root->key);
  const bool is_idle = at != groups_.end() && at->second->place != Place::InFlight;
  if (is_idle)
    update_loose_tree(*at->second, leaf, false, now);
  else
    touch(leaf, true, now);
  queue_as_its_leaf(pod, now);
  if (pod.lone != nullptr) return fail_alone(pod, now);
  if (!is_idle) return;
  Entity& entity = *at->second;
  // It comes back into a tree that rests, waits or is empty: the error's backoff holds for all of
  // it. A tree that is active is tried anyway.
  if (entity.place == Place::Active) return;
  move(entity, Place::Nowhere);
  end_speech(entity, now);
  fail(entity, true, now);
  requeue_group(entity, true, now);
}

// The members come back together and the tree fails once, with a backoff for all of them, also if
// it was active: trying the rest of it at once would split what belongs together.
void SchedulingQueue::tree_bind_failed(const GroupKey& root, std::span<const std::string> uids,
                                       TreeFailure failure, Time now) {
  std::size_t returned = 0;
  for (const std::string& uid : uids) returned += return_to_waiting(uid, now) ? 1U : 0U;
  const auto at = groups_.find(root);
  const bool is_idle = at != groups_.end() && at->second->place != Place::InFlight;
  if (is_idle) update_loose_tree(*at->second, root, false, now);
  for (const std::string& uid : uids) {
    Pod* pod = find(uid);
    if (pod == nullptr || !pod->is_pending()) continue;
    queue_as_its_leaf(*pod, now);
    if (pod->lone != nullptr) fail_alone(*pod, now);
  }
  if (returned == 0 || !is_idle || at->second->is_loose) return touch(root, true, now);
  Entity& entity = *at->second;
  move(entity, Place::Nowhere);
  end_speech(entity, now);
  if (failure == TreeFailure::Outdated)
    entity.expires = Time::min();
  else
    fail(entity, true, now);
  requeue_group(entity, true, now);
  // Only once in a row: our own reports on it are changes, too.
  entity.awaits_news = failure == TreeFailure::Conflict && entity.failures.errors == 1;
}

}  // namespace muster::scheduler
