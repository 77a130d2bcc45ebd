#include "scheduler/queue/scheduling_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {

SchedulingQueue::SchedulingQueue(QueueOptions options, const ClusterModel& model,
                                 CouldHelp could_help, Listens listens)
    : options_(std::move(options)),
      model_(model),
      forest_(model.forest()),
      could_help_(std::move(could_help)),
      listens_(std::move(listens)),
      stranded_(forest_, options_.stranded_patience),
      turns_(options_.looks) {}

SchedulingQueue::~SchedulingQueue() = default;

// --- Pods ---

SchedulingQueue::Pod* SchedulingQueue::find(std::string_view uid) const {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : at->second.get();
}

bool SchedulingQueue::is_committing(std::string_view uid) const {
  const Pod* pod = find(uid);
  return pod != nullptr && pod->state == State::Committing;
}

SchedulingQueue::Pod& SchedulingQueue::add(QueuePod facts, State state, Time now) {
  auto made = std::make_unique<Pod>();
  Pod& pod = *made;
  pod.uid = facts.pod->meta().uid;
  pod.sequence = ++sequence_;
  pod.facts = std::move(facts);
  pod.queued_at = now;
  pod.state = state;
  const bool is_new = pods_.emplace(std::string_view(pod.uid), std::move(made)).second;
  CHECK_THAT(is_new, "pod {} is queued twice", pod.uid);
  if (pod.is_member()) pending_[*pod.facts.group].insert(&pod);
  return pod;
}

// Changes a pod's state, and whether it is among the pending ones of its leaf.
void SchedulingQueue::set_state(Pod& pod, State state) {
  const bool was_pending = pod.is_pending();
  pod.state = state;
  if (!pod.is_member() || was_pending == pod.is_pending()) return;
  if (was_pending)
    leave_pending(pod);
  else
    pending_[*pod.facts.group].insert(&pod);
}

void SchedulingQueue::leave_pending(Pod& pod) {
  const auto at = pending_.find(*pod.facts.group);
  CHECK(at != pending_.end() && at->second.erase(&pod) == 1);
  if (!at->second.empty()) return;
  loose_.erase(at->first);
  pending_.erase(at);
}

// A new pod may complete its tree, so it always counts as a change. A change of a known one matters
// only if a gate is gone, or if it helps against the plugins that refused it.
void SchedulingQueue::set_pod(QueuePod facts, std::span<const ClusterEvent> changes, Time now) {
  const State state = facts.gated ? State::Gated : State::Waiting;
  Pod* pod = find(facts.pod->meta().uid);
  if (pod == nullptr) {
    Pod& added = add(std::move(facts), state, now);
    if (added.is_member()) {
      update_stranded(*added.facts.group, now);
      touch(*added.facts.group, true, now);
      return queue_as_its_leaf(added, now);
    }
    added.lone = std::make_unique<Entity>();
    added.lone->sequence = added.sequence;
    added.lone->pod = &added;
    added.lone->priority = added.facts.priority;
    added.lone->timestamp = now;
    return set_lone(added, {}, now);
  }
  CHECK(pod->facts.group == facts.group);  // the model lets such a pod go and come again
  const bool is_reclassified = pod->facts.class_hash != facts.class_hash;
  pod->facts.pod = std::move(facts.pod);
  pod->facts.class_hash = facts.class_hash;
  pod->facts.gated = facts.gated;
  if (pod->state == State::Committing) return;
  if (pod->state == State::InFlight) {
    for (const ClusterEvent& change : changes) flight_.record(change, {}, pod->uid);
    return;
  }
  const bool is_regated = pod->state != state;
  set_state(*pod, state);
  if (pod->is_member() && pod->lone != nullptr) touch(*pod->facts.group, is_regated, now);
  if (pod->lone != nullptr) {
    if (is_reclassified) reclassify(*pod, now);
    return set_lone(*pod, changes, now);
  }
  const bool helped =
      pod->refused_by != nullptr && std::ranges::any_of(changes, [&](const ClusterEvent& change) {
        return helps(*pod->refused_by, *pod->facts.pod, change);
      });
  touch(*pod->facts.group, is_regated || helped, now);
}

// It is no longer like those of its wait class.
void SchedulingQueue::reclassify(Pod& pod, Time now) {
  Entity& entity = *pod.lone;
  end_release(entity, true, now);
  if (entity.place != Place::Resting) return;
  resting_.leave_classes(entity);
  resting_.join(entity, resting_.key_of(pod, entity.priority), pod.facts.pod);
}

void SchedulingQueue::set_lone(Pod& pod, std::span<const ClusterEvent> changes, Time now) {
  Entity& entity = *pod.lone;
  if (pod.state == State::Gated) {
    end_release(entity, true, now);
    return move(entity, Place::Gated);
  }
  if (entity.place == Place::Nowhere || entity.place == Place::Gated) return enter(entity, now);
  if (entity.place != Place::Resting || pod.refused_by == nullptr) return;
  const bool helped = std::ranges::any_of(changes, [&](const ClusterEvent& change) {
    return helps(*pod.refused_by, *pod.facts.pod, change);
  });
  if (helped) wake_entity(entity, now);
}

void SchedulingQueue::remove_pod(std::string_view uid, Time now) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  const std::unique_ptr<Pod> pod = std::move(at->second);
  pods_.erase(at);
  if (pod->lone != nullptr) {
    Entity& entity = *pod->lone;
    if (pod->state == State::InFlight) end_flight(entity);
    end_release(entity, true, now);
    move(entity, Place::Nowhere);
    if (!pod->is_member()) return;
  }
  const GroupKey leaf = *pod->facts.group;
  const bool was_pending = pod->is_pending();
  if (was_pending) leave_pending(*pod);
  update_stranded(leaf, now);
  // A pending member that goes, or that somebody else bound, leaves its tree with less to place.
  // One that we placed changes nothing any more: its tree counted it as present from then on.
  touch(leaf, was_pending, now);
}

void SchedulingQueue::members_changed(const GroupKey& leaf, bool could_help, Time now) {
  update_stranded(leaf, now);
  touch(leaf, could_help, now);
}

// --- Trees ---

// The model has moved the group already; the queue holds one entity per root and has to find out
// which roots are concerned: the one it was below, the one it is below, and those whose fault
// changed because of it.
void SchedulingQueue::group_changed(const GroupChange& change, Time now) {
  if (change.schedules_alike && !change.is_gone) return;
  const GroupSpec* after = forest_.root_of(change.key);
  if (change.root_then && (after == nullptr || after->key != *change.root_then)) {
    // It was a root and is none any more, or it left its tree.
    if (*change.root_then == change.key)
      drop_group(change.key, now);
    else
      touch(*change.root_then, true, now);
  }
  trees_judged(change.judged, now);
  touch(change.key, true, now);
  if (!change.requeues_pods) return;
  look_below(change.key, {.is_relinked = change.is_relinked, .all_pods = true, .could_help = true},
             now);
}

void SchedulingQueue::trees_judged(const TreeFaults::Anchors& anchors, Time now) {
  for (const GroupKey& anchor : anchors) touch(anchor, true, now);
}

// Something about the tree around `group` changed.
void SchedulingQueue::touch(const GroupKey& group, bool could_help, Time now) {
  const GroupSpec* root = forest_.root_of(group);
  if (root == nullptr) return;
  auto at = groups_.find(root->key);
  if (at == groups_.end()) {
    // An entity is made with the first pending pod, so that idle trees cost nothing here.
    if (!forest_.has_pending(root->key)) return;
    auto entity = std::make_unique<Entity>();
    entity->sequence = ++sequence_;
    entity->root = root->key;
    entity->priority = root->priority;
    entity->is_new = true;
    if (root->key.kind == GroupKind::PodGroup)
      entity->cost = model_.count(root->key, PodRole::Waiting) * kStepsPerPod;
    at = groups_.emplace(root->key, std::move(entity)).first;
    if (const auto due = model_.comparison_due(root->key, now))
      comparisons_.emplace(*due, root->key);
  }
  Entity& entity = *at->second;
  if (entity.place != Place::InFlight) update_loose_tree(entity, group, could_help, now);
  if (entity.priority != root->priority && entity.place != Place::InFlight) {
    // Orders and wait classes depend on the priority: it changes only while in none of them.
    move(entity, Place::Nowhere);
    entity.priority = root->priority;
  }
  requeue_group(entity, could_help, now);
}

// Brings a group to the place where its tree belongs. One in flight is left alone: finish() looks
// at the tree as it is then.
void SchedulingQueue::requeue_group(Entity& entity, bool could_help, Time now) {
  if (entity.place == Place::InFlight) {
    entity.changed_in_flight = entity.changed_in_flight || could_help;
    return;
  }
  const bool pending = forest_.has_pending(*entity.root);
  if (entity.place == Place::Nowhere && pending) entity.timestamp = now;
  if (entity.is_loose || !model_.runnable(*entity.root)) {
    move(entity, pending && !entity.is_loose ? Place::Gated : Place::Nowhere);
    return end_speech(entity, now);
  }
  switch (entity.place) {
    case Place::Nowhere:
    case Place::Gated: {
      // Its minimum may go up and down, and the group go and come, as often as somebody likes.
      const bool takes_turn = std::exchange(entity.is_new, false) || entity.place == Place::Gated;
      if (takes_turn && !entity.held_until && wait_for_turn(entity, now)) return;
      return enter(entity, now);
    }
    case Place::Resting:
      if (could_help) wake_entity(entity, now);
      return;
    case Place::ErrorBackoff:
      if (std::exchange(entity.awaits_news, false)) move(entity, Place::Active);
      return;
    default: return;
  }
}

void SchedulingQueue::drop_group(const GroupKey& root, Time now) {
  const auto at = groups_.find(root);
  // In flight: finish() finds that the root is gone.
  if (at == groups_.end() || at->second->place == Place::InFlight) return;
  move(*at->second, Place::Nowhere);
  return_turn(*at->second, now);
  end_speech(*at->second, now);
  groups_.erase(at);
}

void SchedulingQueue::update_stranded(const GroupKey& leaf, Time now) {
  stranded_.update(leaf, pending_.contains(leaf), now);
}

// --- Looking in ---

std::vector<SchedulingQueue::Stranded> SchedulingQueue::drain_stranded(Time now) {
  std::vector<Stranded> out;
  for (StrandedLeaves::Report& report : stranded_.drain(now)) {
    const auto waiting = pending_.find(report.leaf);
    if (waiting == pending_.end()) continue;
    api::ObjectPtr pod = (*waiting->second.begin())->facts.pod;
    out.push_back({std::move(report.leaf), std::move(pod), std::move(report.why)});
  }
  return out;
}

std::vector<GroupKey> SchedulingQueue::drain_comparisons(Time now) {
  constexpr int kAtOnce = 64;
  std::vector<GroupKey> due;
  for (int i = 0; i < kAtOnce && !comparisons_.empty() && comparisons_.begin()->first <= now; ++i) {
    const GroupKey root = comparisons_.begin()->second;
    comparisons_.erase(comparisons_.begin());
    // The pods it was planned for may be gone, and younger ones wait.
    const std::optional<Time> still = model_.comparison_due(root, now);
    if (!still) continue;
    if (*still <= now)
      due.push_back(root);
    else
      comparisons_.emplace(*still, root);
  }
  return due;
}

std::optional<Time> SchedulingQueue::next_deadline() const {
  std::optional<Time> next = stranded_.next_deadline();
  const auto offer = [&next](Time time) { next = next ? std::min(*next, time) : time; };
  if (!backoff_.empty()) offer(backoff_end((*backoff_.begin())->expires));
  if (!error_backoff_.empty()) offer(backoff_end((*error_backoff_.begin())->expires));
  if (!holds_.empty()) offer(holds_.begin()->first);
  if (!resting_.empty()) offer(resting_.first().rest_since + options_.rest_max);
  if (!retries_.empty()) offer(retries_.begin()->first);
  if (!comparisons_.empty()) offer(comparisons_.begin()->first);
  if (const std::optional<Time> when = goes_on_at()) offer(*when);
  return next;
}

SchedulingQueue::Counts SchedulingQueue::counts() const {
  Counts counts{.active = active_.size(),
                .backoff = backoff_.size() + error_backoff_.size(),
                .resting = resting_.size(),
                .gated = gated_,
                .incomplete = 0};
  stranded_.for_each([&](const GroupKey& leaf) {
    if (const auto at = pending_.find(leaf); at != pending_.end())
      counts.incomplete += at->second.size();
  });
  return counts;
}

}  // namespace muster::scheduler
