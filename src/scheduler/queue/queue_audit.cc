#include <fmt/format.h>

#include "scheduler/queue/queue_entity.h"
#include "scheduler/queue/scheduling_queue.h"

namespace muster::scheduler {

std::string SchedulingQueue::misplaced(const Entity& entity) const {
  auto* const key = const_cast<Entity*>(&entity);  // sets are keyed by mutable pointers
  const std::size_t active = active_.count(key);
  const std::size_t backoff = backoff_.count(key);
  const std::size_t error_backoff = error_backoff_.count(key);
  const std::size_t resting = (resting_.contains(entity) ? 1U : 0U);
  const bool right = active == (entity.place == Place::Active ? 1U : 0U) &&
                     backoff == (entity.place == Place::Backoff ? 1U : 0U) &&
                     error_backoff == (entity.place == Place::ErrorBackoff ? 1U : 0U) &&
                     resting == (entity.place == Place::Resting ? 1U : 0U);
  if (right) return {};
  return fmt::format("{} is in {} active, {} backoff, {} error backoff and {} resting places",
                     entity.root ? "the tree of " + entity.root->name : "pod " + entity.pod->uid,
                     active, backoff, error_backoff, resting);
}

std::string SchedulingQueue::misplaced(const Pod& pod) const {
  const std::string name = api::key_text(pod.facts.pod->meta());
  if (pod.lone != nullptr) {
    if (pod.state == State::Waiting && pod.lone->place == Place::Nowhere)
      return fmt::format("pod {} waits and is nowhere in the queue", name);
    if (std::string wrong = misplaced(*pod.lone); !wrong.empty() || !pod.is_member()) return wrong;
  }
  const GroupKey& leaf = *pod.facts.group;
  const auto pending = pending_.find(leaf);
  const bool is_listed =
      pending != pending_.end() && pending->second.contains(const_cast<Pod*>(&pod));
  const bool is_pending = pod.is_pending();
  if (is_listed != is_pending)
    return fmt::format("pod {} is {} among the pending members of {}", name,
                       is_listed ? "wrongly" : "not", leaf.name);
  if (!is_pending) return {};
  if (unfinished_.contains(leaf.name_space)) return {};
  const GroupSpec* root = forest_.root_of(leaf);
  const bool is_incomplete = !forest_.anchor_of(leaf);  // a circle is complete, if invalid
  if (stranded_.contains(leaf) != is_incomplete)
    return fmt::format("pod {} has {} above it and its group is {} as incomplete", name,
                       is_incomplete ? "a gap" : "all groups",
                       is_incomplete ? "not listed" : "listed");
  if (root == nullptr) return {};
  if (pod.state != State::InFlight && loose_.contains(leaf) != (pod.lone != nullptr))
    return fmt::format("pod {} is{} queued by itself", name, pod.lone != nullptr ? "" : " not");
  const auto entity = groups_.find(root->key);
  if (entity == groups_.end() ||
      (entity->second->place == Place::Nowhere && !entity->second->is_loose))
    return fmt::format("pod {} waits and the tree of {} is nowhere in the queue", name,
                       root->key.name);
  return {};
}

std::string SchedulingQueue::inconsistency() const {
  std::size_t entities = 0;
  for (const auto& [uid, pod] : pods_)
    if (std::string wrong = misplaced(*pod); !wrong.empty()) return wrong;
  for (const auto& [uid, pod] : pods_)
    entities += pod->lone != nullptr && pod->lone->place != Place::Nowhere &&
                        pod->lone->place != Place::InFlight && pod->lone->place != Place::Gated
                    ? 1U
                    : 0U;
  for (const auto& [root, entity] : groups_) {
    if (std::string wrong = misplaced(*entity); !wrong.empty()) return wrong;
    entities += entity->place != Place::Nowhere && entity->place != Place::InFlight &&
                        entity->place != Place::Gated
                    ? 1U
                    : 0U;
  }
  const std::size_t listed =
      active_.size() + backoff_.size() + error_backoff_.size() + resting_.size();
  if (entities != listed) return fmt::format("{} entities are queued, {} say so", listed, entities);
  return {};
}

}  // namespace muster::scheduler
