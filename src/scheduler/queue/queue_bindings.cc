// Bindings: what the server took, and what comes back because it did not.
#include "scheduler/queue/scheduling_queue.h"

namespace muster::scheduler {

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
  // it. A tree that is active is tried anyway. Members that were bound together are refused one by
  // one, and that is one failure.
  if (entity.place == Place::Active) return;
  const bool has_failed = entity.failures.errors > 0 && backing_off(entity.expires, now);
  move(entity, Place::Nowhere);
  end_speech(entity, now);
  if (!has_failed) fail(entity, true, now);
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
