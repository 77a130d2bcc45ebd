#include <algorithm>
#include <set>
#include <vector>

#include "base/check.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/queue/topology_refusal.h"

namespace muster::scheduler {

// The one place that changes where an entity is. What the sets are ordered by (priority, timestamp,
// expiry, time of rest) may change only while the entity is Nowhere or InFlight, in none of them.
void SchedulingQueue::move(Entity& entity, Place place) {
  const auto remove = [&entity](auto& from) { CHECK(from.erase(&entity) == 1); };
  const auto insert = [&entity](auto& into) { CHECK(into.insert(&entity).second); };
  if (entity.place == place) return;
  switch (entity.place) {
    case Place::Nowhere:
    case Place::InFlight: break;
    case Place::Gated:
      --gated_;
      if (entity.held_until) CHECK(holds_.erase({*entity.held_until, &entity}) == 1);
      break;
    case Place::Active: remove(active_); break;
    case Place::Backoff: remove(backoff_); break;
    case Place::ErrorBackoff: remove(error_backoff_); break;
    case Place::Resting:
      if (entity.retry_at) CHECK(retries_.erase({*entity.retry_at, &entity}) == 1);
      resting_.erase(entity);
      if (entity.root) peers_.wakes(entity);
      break;
  }
  entity.place = place;
  switch (place) {
    case Place::Nowhere:
    case Place::InFlight: break;
    case Place::Gated:
      ++gated_;
      if (entity.held_until) CHECK(holds_.emplace(*entity.held_until, &entity).second);
      break;
    case Place::Active: insert(active_); break;
    case Place::Backoff: insert(backoff_); break;
    case Place::ErrorBackoff: insert(error_backoff_); break;
    case Place::Resting:
      if (entity.retry_at) CHECK(retries_.emplace(*entity.retry_at, &entity).second);
      resting_.insert(entity);
      if (entity.root) peers_.rests(entity);
      break;
  }
  if (options_.moved) options_.moved(entity);
}

// Its victims are going: whatever happens meanwhile, it is not tried before they are gone.
void SchedulingQueue::hold(Entity& entity, Time now) {
  move(entity, Place::Nowhere);
  entity.held_until = now + options_.hold_max;
  move(entity, Place::Gated);
}

// It is tried once its backoff expires, then.
void SchedulingQueue::end_hold(Entity& entity, Time expires, Time now) {
  const bool was_gated = entity.place == Place::Gated;
  if (was_gated) move(entity, Place::Nowhere);
  entity.held_until.reset();
  entity.expires = expires;
  if (!was_gated) return;
  if (entity.root) return requeue_group(entity, true, now);
  if (entity.pod->state == State::Gated) return move(entity, Place::Gated);
  enter(entity, now);
}

SchedulingQueue::Entity* SchedulingQueue::find_entity(const EntityKey& key) const {
  if (const auto* root = std::get_if<GroupKey>(&key)) {
    const auto at = groups_.find(*root);
    return at == groups_.end() ? nullptr : at->second.get();
  }
  const Pod* pod = find(std::get<std::string>(key));
  return pod == nullptr ? nullptr : pod->lone.get();
}

void SchedulingQueue::release(const EntityKey& key, Time now) {
  Entity* entity = find_entity(key);
  if (entity != nullptr && entity->held_until) end_hold(*entity, Time::min(), now);
}

void SchedulingQueue::release_later(const EntityKey& key, Time now) {
  Entity* entity = find_entity(key);
  if (entity == nullptr || !entity->held_until) return;
  // An error, so that only time ends its backoff: an idle scheduler would ask for the same eviction
  // again at once, and again.
  ++entity->failures.errors;
  end_hold(*entity, entity->expires, now);
}

void SchedulingQueue::retry(std::string_view uid, Time now) {
  const Pod* pod = find(uid);
  if (pod == nullptr) return;
  if (pod->lone != nullptr) {
    if (pod->lone->place != Place::Resting || pod->lone->classes.empty()) return;
    WaitClass& wait_class = *pod->lone->classes.front();
    if (wait_class.released == nullptr) release_next(wait_class, now);
    return;
  }
  const GroupSpec* root = pod->is_member() ? forest_.root_of(*pod->facts.group) : nullptr;
  Entity* tree = root == nullptr ? nullptr : find_entity(root->key);
  if (tree != nullptr && tree->place == Place::Resting) wake_entity(*tree, now);
}

bool SchedulingQueue::is_held(const EntityKey& key) const {
  const Entity* entity = find_entity(key);
  return entity != nullptr && entity->held_until.has_value();
}

// Makes it runnable, now or after its backoff.
void SchedulingQueue::enter(Entity& entity, Time now) {
  if (entity.held_until) return move(entity, Place::Gated);
  if (!backing_off(entity.expires, now)) return move(entity, Place::Active);
  move(entity, entity.failures.errors > 0 ? Place::ErrorBackoff : Place::Backoff);
}

// Begins to rest, in no wait class yet: nothing but time and its own changes wake it.
void SchedulingQueue::rest(Entity& entity, Time now) {
  CHECK(entity.place != Place::Resting);
  entity.rest_since = now;
  move(entity, Place::Resting);
}

// An event could help it: it leaves its rest. A group need not wait out a backoff that grew, but it
// waits for its turn if its attempts cost much, also while there is nothing better to do: an entity
// that arrives meanwhile would have to wait until such an attempt is over.
void SchedulingQueue::wake_entity(Entity& entity, Time now) {
  CHECK(entity.place == Place::Resting);
  move(entity, Place::Nowhere);
  if (entity.root) {
    entity.expires = std::min(
        entity.expires, backoff_expiry(entity.timestamp, backoff_duration(options_.backoff, 1)));
    if (wait_for_turn(entity, now)) return;
  }
  move(entity, backing_off(entity.expires, now) ? Place::Backoff : Place::Active);
}

// False if it need not wait. A backoff that an event may cut short gives way to the turn.
bool SchedulingQueue::wait_for_turn(Entity& entity, Time now) {
  if (!entity.turn) entity.turn = next_costly_turn(entity.cost, now);
  if (!backing_off(*entity.turn, now)) return false;
  entity.expires =
      entity.failures.errors > 0 ? std::max(entity.expires, *entity.turn) : *entity.turn;
  move(entity, Place::ErrorBackoff);
  return true;
}

namespace {

constexpr std::uint64_t kCheap = 2'000;  // steps, of about a microsecond each

Duration pause_after(std::uint64_t cost) {
  constexpr std::uint64_t kCostlyShare = 4;
  constexpr std::uint64_t kTurnMax = 10'000'000;
  return Duration{static_cast<std::int64_t>(std::min(cost * kCostlyShare, kTurnMax))};
}

}  // namespace

// A tree that goes without having used its turn gives it back.
void SchedulingQueue::return_turn(Entity& entity, Time now) {
  if (entity.turn && entity.cost > kCheap)
    costly_until_ = std::max(now, costly_until_ - pause_after(entity.cost));
  entity.turn.reset();
}

// Trees whose attempts cost much share a part of the scheduler's time among them, however many they
// are: each gets a turn that is as long as its last attempt times kCostlyShare. Those that come
// new, or are cheap, are tried before them.
Time SchedulingQueue::next_costly_turn(std::uint64_t cost, Time now) {
  if (cost <= kCheap) return Time::min();
  const Time turn = std::max(costly_until_, now);
  costly_until_ = turn + pause_after(cost);
  return turn == now ? Time::min() : backoff_expiry(turn, Duration::zero());
}

bool SchedulingQueue::is_flushed(const EntityKey& key) const {
  const Entity* entity = find_entity(key);
  return entity != nullptr && entity->is_flushed;
}

void SchedulingQueue::release_peer(std::uint64_t shape, Time now, Cause cause) {
  Entity* next = peers_.release(shape);
  if (next == nullptr) return;
  next->is_flushed = cause == Cause::Flush;
  wake_entity(*next, now);
}

// The tree was placed, is gone or says nothing of its peers any more: the next one may be tried.
void SchedulingQueue::end_speech(Entity& tree, Time now) {
  if (peers_.end_speech(tree))
    release_peer(tree.shape, now, tree.is_flushed ? Cause::Flush : Cause::Event);
}

// What has rested for long is tried again, but only one for all that one answer is good for, and
// not if one of them was tried meanwhile.
void SchedulingQueue::flush(Entity& entity, Time now) {
  const auto is_recent = [&](Time tried) { return tried + options_.rest_max > now; };
  Time since = now;
  if (entity.root) {
    const Entity* speaker = peers_.speaker(entity.shape);
    const bool rests = speaker != nullptr && speaker->place == Place::Resting;
    if (rests && is_recent(speaker->rest_since))
      since = speaker->rest_since;
    else
      release_peer(entity.shape, now, Cause::Flush);
  } else {
    WaitClass& wait_class = *entity.classes.front();
    if (is_recent(wait_class.tried))
      since = wait_class.tried;
    else if (wait_class.released == nullptr)
      release_next(wait_class, now, Cause::Flush);
  }
  if (entity.place == Place::Resting) resting_.postpone(entity, since);
}

// Trees that age alike are not all tried for it: the one that speaks for them is.
void SchedulingQueue::retry_in_time(Entity& entity, Time now) {
  CHECK(retries_.erase({*entity.retry_at, &entity}) == 1);
  entity.retry_at.reset();
  if (entity.root && entity.retries_by_age)
    release_peer(entity.shape, now);
  else
    wake_entity(entity, now);
}

void SchedulingQueue::release_next(WaitClass& wait_class, Time now, Cause cause) {
  Entity* first = resting_.release_first(wait_class);
  if (first == nullptr) return;
  first->is_flushed = cause == Cause::Flush;
  wake_entity(*first, now);
}

// The entity no longer stands for those in its wait class; another may.
void SchedulingQueue::end_release(Entity& entity, bool release_another, Time now) {
  WaitClass* wait_class = resting_.end_release(entity);
  if (wait_class == nullptr) return;
  if (release_another)
    release_next(*wait_class, now, entity.is_flushed ? Cause::Flush : Cause::Event);
  else
    resting_.drop_if_empty(*wait_class);
}

namespace {

// Nobody said why, as when there was no node to ask: whatever makes room could help.
bool makes_room(const ClusterEvent& event) {
  if (event.resource == Resource::Node) return event.action != Action::Delete;
  return event.resource == Resource::AssignedPod &&
         (event.action == Action::Delete || event.action == Action::UpdatePodScaleDown);
}

bool changes_domains(const ClusterEvent& event) {
  return event.resource == Resource::Node &&
         (event.action == Action::Add || event.action == Action::UpdateNodeLabel);
}

}  // namespace

// Asked once per set of plugins: most events concern nobody, and must not cost a question per
// class.
bool SchedulingQueue::any_listens(const PluginSet& plugins, const ClusterEvent& event) const {
  if (plugins.empty()) return makes_room(event);
  return std::ranges::any_of(plugins, [&](const std::string& plugin) {
    if (plugin == kTopologyPlugin) return changes_domains(event);
    return !listens_ || listens_(plugin, event.resource, event.action);
  });
}

bool SchedulingQueue::helps(const PluginSet& plugins, const api::Object& pod,
                            const ClusterEvent& event) const {
  if (plugins.empty()) return makes_room(event);
  return std::ranges::any_of(plugins, [&](const std::string& plugin) {
    if (plugin == kTopologyPlugin) return changes_domains(event);
    return could_help_(plugin, pod, event);
  });
}

void SchedulingQueue::wake(const ClusterEvent& event, Time now,
                           std::optional<std::int32_t> priority_max) {
  flight_.record(event, priority_max, {});
  // Waking empties classes and may drop them, so the ones to wake are chosen first. A class that is
  // chosen lives on until its own turn: its lone pods leave only by release_first below, and its
  // trees only by the last loop.
  const std::vector<WaitClass*> helped =
      resting_.classes_if([&](const PluginSet& plugins) { return any_listens(plugins, event); },
                          [&](const WaitClass& wait_class) {
                            const WaitClassKey& key = wait_class.key;
                            if (priority_max && key.priority > *priority_max) return false;
                            // One of its lone pods is about to be tried anyway, and so is a tree of
                            // each shape.
                            if (wait_class.shapes.empty() && wait_class.released != nullptr)
                              return false;
                            return helps(*key.plugins, *wait_class.example, event);
                          });
  // A shape may be in several classes, and one tree of it is woken, once.
  std::set<std::uint64_t> shapes;
  for (const WaitClass* wait_class : helped)
    for (const auto& [shape, trees] : wait_class->shapes) shapes.insert(shape);
  for (WaitClass* wait_class : helped)
    if (!wait_class->lone.empty() && wait_class->released == nullptr)
      release_next(*wait_class, now);
  for (const std::uint64_t shape : shapes) release_peer(shape, now);
}

// Must be asked before the flight ends, since the last landing clears the log.
bool SchedulingQueue::helped_in_flight(const Entity& entity, const Pod& pod,
                                       std::int32_t priority) const {
  return flight_.any_since(entity.flight_start, pod.uid, priority, [&](const ClusterEvent& event) {
    return helps(*pod.refused_by, *pod.facts.pod, event);
  });
}

}  // namespace muster::scheduler
