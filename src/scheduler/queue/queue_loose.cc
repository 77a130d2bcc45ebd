#include <utility>

#include "base/check.h"
#include "scheduler/queue/scheduling_queue.h"

// Members of loose trees. None of them needs another, so each is queued by itself, like a lone pod:
// then k free slots cost k + 1 attempts at one pod each, however many wait, and not k attempts at
// all of them.
namespace muster::scheduler {

// Brings a tree up to date whose group `changed`; `could_help`: in a way that could help its pods.
// The other leaves are looked at only if they can be concerned.
void SchedulingQueue::update_loose_tree(Entity& tree, const GroupKey& changed, bool could_help,
                                        Time now) {
  const bool is_loose = model_.loose(*tree.root);
  const std::uint64_t changes = is_loose ? forest_.composite_changes(*tree.root) : 0;
  const bool all = is_loose != tree.is_loose || tree.composite_changes != changes;
  tree.is_loose = is_loose;
  tree.composite_changes = changes;
  if (all)
    look_below(*tree.root, {.could_help = could_help}, now);
  else if (changed.kind == GroupKind::PodGroup)
    look_at_leaf(changed, {.could_help = could_help}, now);
  // What pins its pods to a domain may have changed. Those that may be anywhere wait for events.
  if (is_loose && could_help)
    for (WaitClass* wait_class : resting_.classes_of_domain(tree.sequence))
      if (wait_class->released == nullptr) release_next(*wait_class, now);
}

// A member that was refused rests beside its equals; the caller may release one of them.
void SchedulingQueue::queue_alone(Pod& pod, Time now) {
  const GroupKey& leaf = *pod.facts.group;
  if (pod.lone != nullptr || pod.state == State::InFlight) return;
  const GroupSpec* const known = forest_.root_of(leaf);
  if (known == nullptr) return;  // gone, and nobody has looked at the leaf since
  const GroupSpec& root = *known;
  pod.lone = std::make_unique<Entity>();
  Entity& entity = *pod.lone;
  entity.sequence = pod.sequence;
  entity.pod = &pod;
  entity.priority = root.priority;
  entity.timestamp = pod.queued_at;
  pod.domain_of = domain_of(leaf, root);
  if (pod.state != State::Waiting || pod.refused_by == nullptr) return set_lone(pod, {}, now);
  entity.failures.rejections = 1;
  rest(entity, now);
  resting_.join(entity, resting_.key_of(pod, entity.priority), pod.facts.pod);
}

// Which domain a pod of the leaf must be in: that of its tree, or none.
std::uint64_t SchedulingQueue::domain_of(const GroupKey& leaf, const GroupSpec& root) const {
  if (!forest_.is_constrained(leaf)) return 0;
  const auto tree = groups_.find(root.key);
  return tree == groups_.end() ? 0 : tree->second->sequence;
}

// The tree has the pod again: its next attempt includes it.
void SchedulingQueue::queue_with_tree(Pod& pod, Time now) {
  if (pod.lone == nullptr) return;
  end_release(*pod.lone, true, now);
  move(*pod.lone, Place::Nowhere);
  pod.lone = nullptr;
  pod.domain_of = 0;
}

// After a pod has come, or come back: it is queued as its leaf is.
void SchedulingQueue::queue_as_its_leaf(Pod& pod, Time now) {
  if (loose_.contains(*pod.facts.group))
    queue_alone(pod, now);
  else
    queue_with_tree(pod, now);
}

// The tree of one member, for an attempt at that pod.
Group SchedulingQueue::tree_of_single(Pod& pod, Time now) {
  const GroupKey& leaf = *pod.facts.group;
  Group tree = model_.build(
      forest_.root_of(leaf)->key,
      [&](const GroupKey& filled, std::vector<PendingPod>& out) {
        if (filled == leaf) out.push_back(start_attempt(pod));
      },
      now);
  pod.lone->retry_at = tree.stops_insisting();
  return tree;
}

}  // namespace muster::scheduler
