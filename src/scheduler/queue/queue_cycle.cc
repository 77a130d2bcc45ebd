// Pop: who is next, and what an attempt gets of it.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/queue/scheduling_queue.h"

namespace muster::scheduler {
namespace {

bool is_constrained(const Group& group) {
  return group.has_topology() || std::ranges::any_of(group.children, is_constrained);
}

}  // namespace

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

// The first active one. If there is none, the first in backoff is popped early: waiting would only
// leave the scheduler idle. Not after an error, where only time may help.
std::optional<SchedulingQueue::Popped> SchedulingQueue::pop(Time now) {
  constexpr int kWrongMax = 256;
  go_on(now);
  move_expired(now);
  const auto first = [this] { return active_.empty() ? *backoff_.begin() : *active_.begin(); };
  for (int wrong = 0; has_runnable() && is_queued_wrong(*first()); ++wrong) {
    if (wrong == kWrongMax) return std::nullopt;  // the others at the next call
    requeue_wrong(*first(), now);
  }
  if (!has_runnable()) return std::nullopt;
  return begin_flight(*first(), now);
}

std::optional<SchedulingQueue::Popped> SchedulingQueue::pop_root(const GroupKey& root, Time now) {
  move_expired(now);
  Entity* const tree = find_entity(root);
  if (tree == nullptr || (tree->place != Place::Active && tree->place != Place::Backoff) ||
      is_queued_wrong(*tree))
    return std::nullopt;
  return begin_flight(*tree, now);
}

SchedulingQueue::Popped SchedulingQueue::begin_flight(Entity& entity, Time now) {
  move(entity, Place::InFlight);
  entity.flight_start = flight_.start();
  entity.changed_in_flight = false;
  entity.turn.reset();
  if (!entity.root) {
    if (entity.pod->is_member()) return tree_of_single(*entity.pod, now);
    return start_attempt(*entity.pod);
  }
  return pop_tree(entity, now);
}

Group SchedulingQueue::pop_tree(Entity& entity, Time now) {
  CHECK(entity.popped.empty());
  std::map<GroupKey, std::uint64_t> classes;  // by leaf: its pods, summed
  const bool too_large = is_too_large(*entity.root);
  Group root = model_.build(
      *entity.root,
      [&](const GroupKey& leaf, std::vector<PendingPod>& out) {
        if (!too_large) classes[leaf] = fill_leaf(entity, leaf, out, now);
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

// A tree that is loose by now, or a member by itself whose tree is not, or is another.
bool SchedulingQueue::is_queued_wrong(const Entity& entity) const {
  if (entity.root) return model_.loose(*entity.root);
  return entity.pod->is_member() &&
         (!model_.loose(*entity.pod->facts.group) || is_outdated(*entity.pod));
}

bool SchedulingQueue::is_too_large(const GroupKey& root) const {
  return options_.too_large && options_.too_large(root);
}

// What a pod says of itself counts for its tree, and the queue hears of it only here. Nor need a
// change of the tree have reached this pod yet.
void SchedulingQueue::requeue_wrong(Entity& entity, Time now) {
  if (entity.root) return touch(*entity.root, true, now);
  Pod& pod = *entity.pod;
  const GroupKey& leaf = *pod.facts.group;
  touch(leaf, true, now);
  queue_as_is_right(pod, model_.loose(leaf), now);
}

// The waiting pods of a leaf in upstream's order: those that were tried more often go first, so
// that a leaf with too many pods does not start over with others each time. Pods that were queued
// by themselves until now, and that nobody has looked at since, are of the tree.
std::vector<SchedulingQueue::Pod*> SchedulingQueue::waiting_pods(const GroupKey& leaf, Time now) {
  std::vector<Pod*> pods;
  const auto at = pending_.find(leaf);
  if (at == pending_.end()) return pods;
  for (Pod* pod : at->second) {
    if (pod->state != State::Waiting) continue;
    queue_with_tree(*pod, now);
    pods.push_back(pod);
  }
  std::ranges::sort(pods, [](const Pod* a, const Pod* b) {
    if (a->facts.priority != b->facts.priority) return a->facts.priority > b->facts.priority;
    if (a->attempts != b->attempts) return a->attempts > b->attempts;
    if (a->queued_at != b->queued_at) return a->queued_at < b->queued_at;
    return a->facts.pod->meta().name < b->facts.pod->meta().name;
  });
  return pods;
}

// An attempt is one piece: of very many pods that are alike the last ones have to wait for the
// next.
void SchedulingQueue::drop_alike(const GroupKey& leaf, std::vector<Pod*>& pods) const {
  const GroupSpec* const spec = forest_.find(leaf);
  const std::size_t needed = spec == nullptr ? 0 : static_cast<std::size_t>(spec->minimum);
  const std::size_t most = std::max(options_.alike_max, needed);
  if (pods.size() <= most) return;
  std::map<std::uint64_t, std::size_t> tried;  // by class
  std::erase_if(pods, [&](const Pod* pod) {
    if (pod->facts.class_hash == 0 || !model_.nominations().node_of(pod->uid).empty()) return false;
    return ++tried[pod->facts.class_hash] > most;
  });
}

// Returns the sum of the pods' classes, or 0 if one is like no other.
std::uint64_t SchedulingQueue::fill_leaf(Entity& entity, const GroupKey& leaf,
                                         std::vector<PendingPod>& out, Time now) {
  std::vector<Pod*> pods = waiting_pods(leaf, now);
  drop_alike(leaf, pods);
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

}  // namespace muster::scheduler
