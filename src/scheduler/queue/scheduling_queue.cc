#include "scheduler/queue/scheduling_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/groups/group_spec.h"
#include "scheduler/queue/queue_records.h"

namespace muster::scheduler {

namespace {

// The name under which topology refuses, upstream's; the queue knows itself what could help against
// it.
constexpr std::string_view kTopology = "TopologyPlacementGenerator";

bool is_constrained(const Group& group) {
  return !group.topology_key.empty() || std::ranges::any_of(group.children, is_constrained);
}

}  // namespace

bool SchedulingQueue::QueueOrder::operator()(const Entity* a, const Entity* b) const {
  if (a->priority != b->priority) return a->priority > b->priority;
  return std::tie(a->timestamp, a->sequence) < std::tie(b->timestamp, b->sequence);
}

bool SchedulingQueue::BackoffOrder::operator()(const Entity* a, const Entity* b) const {
  if (a->expires != b->expires) return a->expires < b->expires;
  return QueueOrder{}(a, b);
}

bool SchedulingQueue::RestOrder::operator()(const Entity* a, const Entity* b) const {
  return std::tie(a->rest_since, a->sequence) < std::tie(b->rest_since, b->sequence);
}

SchedulingQueue::SchedulingQueue(QueueOptions options, CouldHelp could_help)
    : options_(options), could_help_(std::move(could_help)) {}

SchedulingQueue::~SchedulingQueue() = default;

// --- Pods ---

SchedulingQueue::Pod* SchedulingQueue::find(std::string_view uid) const {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : at->second.get();
}

bool SchedulingQueue::is_away(std::string_view uid) const {
  const Pod* pod = find(uid);
  return pod != nullptr && pod->state == State::Away;
}

Membership SchedulingQueue::membership(State state) {
  switch (state) {
    case State::Waiting:
    case State::InFlight: return Membership::Waiting;
    case State::Gated: return Membership::Gated;
    case State::Away:
    case State::Present: break;
  }
  return Membership::Present;
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
  if (!pod.is_member()) return pod;
  forest_.count_member(*pod.facts.group, membership(state), +1);
  if (membership(state) != Membership::Present) pending_[*pod.facts.group].insert(&pod);
  return pod;
}

// Changes a pod's state, and what its leaf counts it as.
void SchedulingQueue::stand(Pod& pod, State state) {
  const Membership before = membership(pod.state);
  const Membership after = membership(state);
  pod.state = state;
  if (!pod.is_member() || before == after) return;
  const GroupKey& leaf = *pod.facts.group;
  forest_.count_member(leaf, after, +1);
  forest_.count_member(leaf, before, -1);
  if (after == Membership::Present) {
    const auto at = pending_.find(leaf);
    CHECK(at != pending_.end() && at->second.erase(&pod) == 1);
    if (at->second.empty()) pending_.erase(at);
  } else if (before == Membership::Present) {
    pending_[leaf].insert(&pod);
  }
}

void SchedulingQueue::set_pod(QueuePod facts, std::span<const ClusterEvent> changes, Time now) {
  const State state = facts.gated ? State::Gated : State::Waiting;
  Pod* pod = find(facts.pod->meta().uid);
  if (pod == nullptr) {
    Pod& added = add(std::move(facts), state, now);
    if (added.is_member()) {
      note_stranded(*added.facts.group, now);
      if (faults_.of_group(*added.facts.group) != nullptr) joined_wrong_.push_back(added.facts.pod);
      return touch(*added.facts.group, true, now);
    }
    added.lone = std::make_unique<Entity>();
    added.lone->sequence = added.sequence;
    added.lone->pod = &added;
    added.lone->priority = added.facts.priority;
    added.lone->timestamp = now;
    return set_lone(added, {}, now);
  }
  if (pod->facts.group != facts.group) {  // no API server allows it
    remove_pod(facts.pod->meta().uid, now);
    return set_pod(std::move(facts), {}, now);
  }
  const bool reshaped = pod->facts.shape != facts.shape;
  pod->facts.pod = std::move(facts.pod);
  pod->facts.shape = facts.shape;
  pod->facts.gated = facts.gated;
  switch (pod->state) {
    case State::Away:
    case State::Present: return;
    case State::InFlight:
      for (const ClusterEvent& change : changes) flight_log_.push_back({change, {}, pod->uid});
      return;
    case State::Waiting:
    case State::Gated: break;
  }
  const bool regated = pod->state != state;
  stand(*pod, state);
  if (!pod->is_member()) {
    if (reshaped) reshape(*pod, now);
    return set_lone(*pod, changes, now);
  }
  const bool helped =
      pod->refused_by != nullptr && std::ranges::any_of(changes, [&](const ClusterEvent& change) {
        return helps(*pod->refused_by, *pod->facts.pod, change);
      });
  touch(*pod->facts.group, regated || helped, now);
}

// It is no longer like those it was put together with.
void SchedulingQueue::reshape(Pod& pod, Time now) {
  Entity& entity = *pod.lone;
  end_release(entity, true, now);
  if (entity.place != Place::Resting) return;
  leave_beds(entity);
  const Bedding bed = bedding(pod, entity.priority);
  rest(entity, {&bed, 1}, now);
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

void SchedulingQueue::set_present(const api::ObjectPtr& object, const GroupKey& leaf, Time now) {
  Pod* pod = find(object->meta().uid);
  if (pod != nullptr && pod->facts.group != leaf) {
    remove_pod(object->meta().uid, now);
    pod = nullptr;
  }
  if (pod == nullptr) {
    QueuePod facts;
    facts.pod = object;
    facts.group = leaf;
    add(std::move(facts), State::Present, now);
  } else {
    pod->facts.pod = object;
    stand(*pod, State::Present);
  }
  note_stranded(leaf, now);
  touch(leaf, false, now);
}

void SchedulingQueue::remove_pod(std::string_view uid, Time now) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  const std::unique_ptr<Pod> pod = std::move(at->second);
  pods_.erase(at);
  if (!pod->is_member()) {
    Entity& entity = *pod->lone;
    if (pod->state == State::InFlight) end_flight(entity);
    end_release(entity, true, now);
    return move(entity, Place::Nowhere);
  }
  const GroupKey leaf = *pod->facts.group;
  const bool was_pending = membership(pod->state) != Membership::Present;
  forest_.count_member(leaf, membership(pod->state), -1);
  if (was_pending) {
    const auto members = pending_.find(leaf);
    CHECK(members != pending_.end() && members->second.erase(pod.get()) == 1);
    if (members->second.empty()) pending_.erase(members);
  }
  note_stranded(leaf, now);
  touch(leaf, was_pending, now);
}

// --- Groups ---

void SchedulingQueue::set_group(GroupSpec group, Time now) {
  const GroupKey key = group.key;
  const GroupSpec* known = forest_.find(key);
  const bool same = known != nullptr && schedules_alike(*known, group);
  const bool relinked = known == nullptr || known->parent != group.parent;
  const bool judged = relinked || known->priority != group.priority ||
                      known->workload != group.workload ||
                      known->template_name != group.template_name;
  const GroupSpec* root_before = forest_.root_of(key);
  const std::optional<GroupKey> before =
      root_before == nullptr ? std::nullopt : std::optional(root_before->key);
  forest_.set(std::move(group));
  if (same) return;
  const GroupSpec* after = forest_.root_of(key);
  if (before && (after == nullptr || after->key != *before)) {
    if (*before == key)
      drop_group(key);
    else
      touch(*before, true, now);
  }
  if (judged) settle_judged(faults_.look_again(key), now);
  touch(key, true, now);
  if (relinked) forest_.each_leaf(key, [&](const GroupKey& leaf) { note_stranded(leaf, now); });
}

void SchedulingQueue::remove_group(const GroupKey& key, Time now) {
  if (forest_.find(key) == nullptr) return;
  const GroupSpec* root = forest_.root_of(key);
  const std::optional<GroupKey> before = root == nullptr ? std::nullopt : std::optional(root->key);
  forest_.erase(key);
  settle_judged(faults_.look_again(key), now);
  if (before == key)
    drop_group(key);
  else if (before)
    touch(*before, true, now);
  forest_.each_leaf(key, [&](const GroupKey& leaf) { note_stranded(leaf, now); });
}

void SchedulingQueue::set_workload(std::string_view name_space, std::string_view name,
                                   std::optional<WorkloadTemplates> templates, Time now) {
  settle_judged(faults_.set_workload(name_space, name, std::move(templates)), now);
}

// A tree that was found wrong is held back, one that is right again is tried at once.
void SchedulingQueue::settle_judged(const TreeFaults::Anchors& changed, Time now) {
  for (const GroupKey& anchor : changed) touch(anchor, true, now);
}

// The age of its pods decides, so that a restart does not start the wait anew.
void SchedulingQueue::plan_comparison(const GroupKey& root, Time now) {
  std::optional<Time> since;
  forest_.each_leaf(root, [&](const GroupKey& leaf) {
    const auto at = pending_.find(leaf);
    if (at == pending_.end()) return;
    const Time created = (*at->second.begin())->facts.pod->meta().creation_time.value_or(now);
    since = since ? std::min(*since, created) : created;
  });
  comparisons_.emplace(since.value_or(now) + options_.compare_patience, root);
}

void SchedulingQueue::compare_overdue(Time now) {
  while (!comparisons_.empty() && comparisons_.begin()->first <= now) {
    const GroupKey root = comparisons_.begin()->second;
    comparisons_.erase(comparisons_.begin());
    const GroupSpec* group = forest_.find(root);
    if (group == nullptr || !forest_.has_pending(root) || was_scheduled(*group)) continue;
    settle_judged(faults_.compare(root), now);
  }
}

SchedulingQueue::Judged SchedulingQueue::take_judged(Time now) {
  compare_overdue(now);
  return {.groups = faults_.drain_changed(), .pods = std::exchange(joined_wrong_, {})};
}

std::vector<api::ObjectPtr> SchedulingQueue::pending_pods(const GroupKey& leaf) const {
  std::vector<api::ObjectPtr> pods;
  if (const auto at = pending_.find(leaf); at != pending_.end())
    for (const Pod* pod : at->second) pods.push_back(pod->facts.pod);
  return pods;
}

// Something about the tree around `group` changed; `stir`: in a way that could help it if it rests.
void SchedulingQueue::touch(const GroupKey& group, bool stir, Time now) {
  const GroupSpec* root = forest_.root_of(group);
  if (root == nullptr) return;
  auto at = groups_.find(root->key);
  if (at == groups_.end()) {
    if (!forest_.has_pending(root->key)) return;
    auto entity = std::make_unique<Entity>();
    entity->sequence = ++sequence_;
    entity->root = root->key;
    entity->priority = root->priority;
    at = groups_.emplace(root->key, std::move(entity)).first;
    plan_comparison(root->key, now);
  }
  Entity& entity = *at->second;
  if (entity.priority != root->priority && entity.place != Place::InFlight) {
    leave_beds(entity);
    move(entity, Place::Nowhere);
    entity.priority = root->priority;
  }
  settle_group(entity, stir, now);
}

// Brings a group to the place where its tree belongs.
void SchedulingQueue::settle_group(Entity& entity, bool stir, Time now) {
  if (entity.place == Place::InFlight) {
    entity.stirred = entity.stirred || stir;
    return;
  }
  const bool pending = forest_.has_pending(*entity.root);
  if (entity.place == Place::Nowhere && pending) entity.timestamp = now;
  if (!may_run(*entity.root)) return move(entity, pending ? Place::Gated : Place::Nowhere);
  switch (entity.place) {
    case Place::Nowhere:
    case Place::Gated: return enter(entity, now);
    case Place::Resting:
      if (stir) wake_entity(entity, now);
      return;
    default: return;
  }
}

void SchedulingQueue::drop_group(const GroupKey& root) {
  const auto at = groups_.find(root);
  // In flight: finish_group finds that the root is gone.
  if (at == groups_.end() || at->second->place == Place::InFlight) return;
  move(*at->second, Place::Nowhere);
  groups_.erase(at);
}

void SchedulingQueue::note_stranded(const GroupKey& leaf, Time now) {
  // A circle is said in another way.
  if (!pending_.contains(leaf) || forest_.anchor_of(leaf)) {
    stranded_.erase(leaf);
    return;
  }
  const auto [at, fresh] = stranded_.try_emplace(leaf, Missing{now, ""});
  // What was missing has come, and something above it is missing: that is news.
  const bool told = !at->second.told.empty();
  if (!fresh && told && at->second.told != forest_.why_no_root(leaf)) at->second = {now, ""};
}

std::vector<SchedulingQueue::Stranded> SchedulingQueue::take_stranded(Time now) {
  std::vector<Stranded> out;
  for (auto& [leaf, missing] : stranded_) {
    if (!missing.told.empty() || missing.since + options_.stranded_patience > now) continue;
    missing.told = forest_.why_no_root(leaf);
    out.push_back({leaf, (*pending_.at(leaf).begin())->facts.pod, missing.told});
  }
  return out;
}

// --- Places ---

void SchedulingQueue::move(Entity& entity, Place place) {
  const auto take = [&entity](auto& from) { CHECK(from.erase(&entity) == 1); };
  const auto put = [&entity](auto& into) { CHECK(into.insert(&entity).second); };
  if (entity.place == place) return;
  switch (entity.place) {
    case Place::Nowhere:
    case Place::InFlight: break;
    case Place::Gated: --gated_; break;
    case Place::Active: take(active_); break;
    case Place::Backoff: take(backoff_); break;
    case Place::ErrorBackoff: take(error_backoff_); break;
    case Place::Resting:
      leave_beds(entity);
      take(resting_);
      break;
  }
  entity.place = place;
  switch (place) {
    case Place::Nowhere:
    case Place::InFlight: break;
    case Place::Gated: ++gated_; break;
    case Place::Active: put(active_); break;
    case Place::Backoff: put(backoff_); break;
    case Place::ErrorBackoff: put(error_backoff_); break;
    case Place::Resting: put(resting_); break;
  }
}

// Makes it runnable, now or after its backoff.
void SchedulingQueue::enter(Entity& entity, Time now) {
  if (!backing_off(entity.expires, now)) return move(entity, Place::Active);
  move(entity, entity.failures.errors > 0 ? Place::ErrorBackoff : Place::Backoff);
}

// Lays the entity down in these beds; one that rests already keeps its time.
void SchedulingQueue::rest(Entity& entity, std::span<const Bedding> beds, Time now) {
  if (entity.place != Place::Resting) {
    entity.rest_since = now;
    move(entity, Place::Resting);
  }
  for (const Bedding& bedding : beds) {
    const auto [at, is_new] = beds_.try_emplace(bedding.key);
    Bed& bed = at->second;
    if (is_new) {
      bed.key = bedding.key;
      bed.example = bedding.example;
    }
    const bool lies_down =
        entity.root ? bed.groups.insert(&entity).second : bed.lone.insert(&entity).second;
    CHECK(lies_down);
    entity.beds.push_back(&bed);
  }
}

void SchedulingQueue::leave_beds(Entity& entity) {
  const std::vector<Bed*> beds = std::exchange(entity.beds, {});
  for (Bed* bed : beds) {
    const std::size_t left = entity.root ? bed->groups.erase(&entity) : bed->lone.erase(&entity);
    CHECK(left == 1);
    drop_bed_if_empty(*bed);
  }
}

void SchedulingQueue::drop_bed_if_empty(Bed& bed) {
  if (bed.lone.empty() && bed.groups.empty() && bed.released == nullptr)
    beds_.erase(BedKey(bed.key));
}

// An event could help it: it leaves its rest. A group need not wait out a backoff that grew with
// its size.
void SchedulingQueue::wake_entity(Entity& entity, Time now) {
  CHECK(entity.place == Place::Resting);
  move(entity, Place::Nowhere);
  if (entity.root)
    entity.expires = std::min(
        entity.expires, backoff_expiry(entity.timestamp, backoff_duration(options_.backoff, 1, 1)));
  move(entity, backing_off(entity.expires, now) ? Place::Backoff : Place::Active);
}

void SchedulingQueue::release_next(Bed& bed, Time now) {
  CHECK(bed.released == nullptr);
  if (bed.lone.empty()) return drop_bed_if_empty(bed);
  Entity& first = **bed.lone.begin();
  bed.released = &first;
  first.released_from = &bed;
  wake_entity(first, now);
}

// The entity no longer stands for those in its bed; another may.
void SchedulingQueue::end_release(Entity& entity, bool release_another, Time now) {
  Bed* bed = std::exchange(entity.released_from, nullptr);
  if (bed == nullptr) return;
  CHECK(bed->released == &entity);
  bed->released = nullptr;
  if (release_another)
    release_next(*bed, now);
  else
    drop_bed_if_empty(*bed);
}

// --- Events ---

const SchedulingQueue::PluginSet* SchedulingQueue::intern(std::vector<std::string> plugins) {
  std::ranges::sort(plugins);
  const auto repeated = std::ranges::unique(plugins);
  plugins.erase(repeated.begin(), repeated.end());
  return &plugin_sets_.try_emplace(std::move(plugins), plugin_sets_.size()).first->first;
}

SchedulingQueue::Bedding SchedulingQueue::bedding(const Pod& pod, std::int32_t priority) const {
  return {.key = {.plugins = pod.refused_by,
                  .plugins_rank = plugin_sets_.at(*pod.refused_by),
                  .priority = priority,
                  .shape = pod.facts.shape,
                  .only = pod.facts.shape == 0 ? pod.sequence : 0},
          .example = pod.facts.pod};
}

bool SchedulingQueue::helps(const PluginSet& plugins, const api::Object& pod,
                            const ClusterEvent& event) const {
  if (plugins.empty()) {
    // Nobody said why, as when there was no node to ask: whatever makes room could help.
    if (event.resource == Resource::Node) return event.action != Action::Delete;
    return event.resource == Resource::AssignedPod &&
           (event.action == Action::Delete || event.action == Action::UpdatePodScaleDown);
  }
  return std::ranges::any_of(plugins, [&](const std::string& plugin) {
    if (plugin == kTopology)
      return event.resource == Resource::Node &&
             (event.action == Action::Add || event.action == Action::UpdateNodeLabel);
    return could_help_(plugin, pod, event);
  });
}

void SchedulingQueue::wake(const ClusterEvent& event, Time now,
                           std::optional<std::int32_t> priority_max) {
  if (in_flight_ > 0) flight_log_.push_back({event, priority_max, {}});
  // Waking empties beds and may drop them, so the ones to wake are chosen first.
  std::vector<Bed*> helped;
  for (auto& [key, bed] : beds_) {
    if (bed.lone.empty() && bed.groups.empty()) continue;
    if (priority_max && key.priority > *priority_max) continue;
    if (helps(*key.plugins, *bed.example, event)) helped.push_back(&bed);
  }
  std::set<Entity*, Arrival> groups;
  for (const Bed* bed : helped) groups.insert(bed->groups.begin(), bed->groups.end());
  for (Bed* bed : helped)
    if (!bed->lone.empty() && bed->released == nullptr) release_next(*bed, now);
  for (Entity* group : groups) wake_entity(*group, now);
}

bool SchedulingQueue::helped_in_flight(const Entity& entity, const Pod& pod,
                                       std::int32_t priority) const {
  for (std::size_t i = entity.flight_start; i < flight_log_.size(); ++i) {
    const Logged& logged = flight_log_[i];
    if (logged.priority_max && priority > *logged.priority_max) continue;
    if (!logged.target.empty() && logged.target != pod.uid) continue;
    if (helps(*pod.refused_by, *pod.facts.pod, logged.event)) return true;
  }
  return false;
}

// --- The cycle ---

void SchedulingQueue::move_expired(Time now) {
  for (auto* heap : {&backoff_, &error_backoff_})
    while (!heap->empty() && !backing_off((*heap->begin())->expires, now))
      move(**heap->begin(), Place::Active);
  while (!resting_.empty() && (*resting_.begin())->rest_since + options_.rest_max <= now)
    wake_entity(**resting_.begin(), now);
}

std::optional<SchedulingQueue::Popped> SchedulingQueue::pop(Time now) {
  move_expired(now);
  if (!has_runnable()) return std::nullopt;
  Entity& entity = active_.empty() ? **backoff_.begin() : **active_.begin();
  move(entity, Place::InFlight);
  ++in_flight_;
  entity.flight_start = flight_log_.size();
  entity.stirred = false;
  const auto take = [](Pod& pod) {
    pod.state = State::InFlight;
    ++pod.attempts;
    return PendingPod{.pod = pod.facts.pod, .attempts = pod.attempts, .queued_at = pod.queued_at};
  };
  if (!entity.root) return take(*entity.pod);

  CHECK(entity.popped.empty());
  Group root = forest_.build(*entity.root, [&](const GroupKey& leaf, std::vector<PendingPod>& out) {
    const auto at = pending_.find(leaf);
    if (at == pending_.end()) return;
    std::vector<Pod*> pods;
    for (Pod* pod : at->second)
      if (pod->state == State::Waiting) pods.push_back(pod);
    std::ranges::sort(pods, [](const Pod* a, const Pod* b) {
      if (a->facts.priority != b->facts.priority) return a->facts.priority > b->facts.priority;
      if (a->attempts != b->attempts) return a->attempts > b->attempts;
      if (a->queued_at != b->queued_at) return a->queued_at < b->queued_at;
      return a->facts.pod->meta().name < b->facts.pod->meta().name;
    });
    out.reserve(pods.size());
    for (Pod* pod : pods) {
      out.push_back(take(*pod));
      entity.popped.push_back(pod->uid);
    }
  });
  entity.constrained = is_constrained(root);
  return root;
}

void SchedulingQueue::end_flight(Entity& entity) {
  CHECK(entity.place == Place::InFlight && in_flight_ > 0);
  move(entity, Place::Nowhere);
  if (--in_flight_ == 0) flight_log_.clear();
}

void SchedulingQueue::placed(std::string_view uid, Time now) {
  Pod* pod = find(uid);
  if (pod == nullptr || pod->state != State::InFlight)
    return;  // deleted or bound by others meanwhile
  stand(*pod, State::Away);
  if (pod->is_member()) return;
  end_flight(*pod->lone);
  end_release(*pod->lone, true, now);
}

void SchedulingQueue::refused(std::string_view uid, Fate fate, std::vector<std::string> plugins,
                              Time now) {
  Pod* pod = find(uid);
  if (pod == nullptr || pod->state != State::InFlight) return;
  if (fate != Fate::Rejected && fate != Fate::Unresolved) plugins.clear();
  pod->refused_by = intern(std::move(plugins));
  pod->queued_at = now;
  stand(*pod, State::Waiting);
  if (!pod->is_member()) refused_lone(*pod, fate, now);
}

void SchedulingQueue::fail(Entity& entity, Fate fate, std::size_t pods, Time now) {
  if (fate == Fate::Failed) {
    ++entity.failures.errors;
  } else {
    ++entity.failures.rejections;
    entity.failures.errors = 0;
  }
  entity.timestamp = now;
  entity.expires =
      backoff_expiry(now, backoff_duration(options_.backoff, entity.failures.count(), pods));
  if (options_.backoff.max <= Duration::zero()) entity.expires = Time::min();
}

void SchedulingQueue::refused_lone(Pod& pod, Fate fate, Time now) {
  Entity& entity = *pod.lone;
  const bool helped = fate == Fate::Rejected && helped_in_flight(entity, pod, entity.priority);
  end_flight(entity);
  fail(entity, fate, 1, now);
  if (fate != Fate::Rejected) {
    end_release(entity, true, now);
    const bool waits = backing_off(entity.expires, now);
    return move(entity, waits ? Place::ErrorBackoff : Place::Active);
  }
  if (helped) {
    end_release(entity, true, now);
    return enter(entity, now);
  }
  const Bedding bed = bedding(pod, entity.priority);
  rest(entity, {&bed, 1}, now);
  Bed* stood_for = entity.released_from;
  if (stood_for != nullptr && stood_for != entity.beds.front()) {
    // It stood for the whole bed, and others than before refused it. So they would its peers.
    const std::vector<Entity*> peers(stood_for->lone.begin(), stood_for->lone.end());
    for (Entity* peer : peers) {
      leave_beds(*peer);
      peer->pod->refused_by = pod.refused_by;
      const Bedding peer_bed = bedding(*peer->pod, peer->priority);
      rest(*peer, {&peer_bed, 1}, now);
    }
  }
  end_release(entity, false, now);
}

void SchedulingQueue::finish_group(const GroupKey& root, std::optional<Fate> fate, Time now) {
  const auto at = groups_.find(root);
  CHECK(at != groups_.end() && at->second->place == Place::InFlight);
  Entity& entity = *at->second;

  // Of the members that came back, one per kind of refusal.
  std::vector<const Pod*> kinds;
  const Pod* unexplained = nullptr;
  std::size_t returned = 0;
  for (const std::string& uid : std::exchange(entity.popped, {})) {
    Pod* pod = find(uid);
    if (pod == nullptr) continue;
    if (pod->state == State::InFlight) stand(*pod, State::Waiting);  // the plan did not mention it
    if (pod->state != State::Waiting) continue;
    ++returned;
    if (pod->refused_by == nullptr || pod->refused_by->empty()) {
      pod->refused_by = intern({});
      if (unexplained == nullptr) unexplained = pod;
      continue;
    }
    const bool told = std::ranges::any_of(kinds, [&](const Pod* kind) {
      return kind->refused_by == pod->refused_by && kind->facts.shape == pod->facts.shape &&
             pod->facts.shape != 0;
    });
    if (!told) kinds.push_back(pod);
  }
  // Pods that fit while the group did not know no reason; those that did not fit speak for them.
  if (kinds.empty() && unexplained != nullptr) kinds.push_back(unexplained);
  const bool helped = entity.stirred || std::ranges::any_of(kinds, [&](const Pod* pod) {
                        return helped_in_flight(entity, *pod, entity.priority);
                      });

  end_flight(entity);
  const GroupSpec* still = forest_.root_of(root);
  if (still == nullptr || still->key != root) {
    groups_.erase(at);
    return;
  }
  entity.priority = still->priority;
  if (fate) {
    fail(entity, *fate, returned, now);
  } else {
    // What is left over starts to count anew, and keeps its turn. Errors are forgiven when a member
    // is bound.
    entity.failures.rejections = returned > 0 ? 1 : 0;
    entity.expires = Time::min();
  }
  if (!may_run(root)) {
    const bool pending = forest_.has_pending(root);
    return move(entity, pending ? Place::Gated : Place::Nowhere);
  }
  if (returned == 0) return enter(entity, now);  // only pods that joined in flight
  if (fate == Fate::Failed) {
    const bool waits = backing_off(entity.expires, now);
    return move(entity, waits ? Place::ErrorBackoff : Place::Active);
  }
  std::vector<Bedding> beds;
  if (fate != Fate::Invalid) {
    for (const Pod* pod : kinds) beds.push_back(bedding(*pod, entity.priority));
    const PluginSet* topology = intern({std::string(kTopology)});
    const bool said =
        std::ranges::any_of(kinds, [&](const Pod* pod) { return pod->refused_by == topology; });
    if (entity.constrained && !said)
      beds.push_back({.key = {.plugins = topology,
                              .plugins_rank = plugin_sets_.at(*topology),
                              .priority = entity.priority,
                              .shape = 0,
                              .only = 0},
                      .example = kinds.front()->facts.pod});
  }
  rest(entity, beds, now);
  if (helped) wake_entity(entity, now);
}

void SchedulingQueue::bound(std::string_view uid) {
  const Pod* pod = find(uid);
  if (pod == nullptr || !pod->is_member()) return;
  const GroupSpec* root = forest_.root_of(*pod->facts.group);
  if (root == nullptr) return;
  if (const auto at = groups_.find(root->key); at != groups_.end()) at->second->failures = {};
}

void SchedulingQueue::bind_failed(std::string_view uid, Time now) {
  Pod* pod = find(uid);
  if (pod == nullptr || pod->state != State::Away) return;
  pod->queued_at = now;
  pod->refused_by = nullptr;
  stand(*pod, pod->facts.gated ? State::Gated : State::Waiting);
  if (!pod->is_member()) {
    fail(*pod->lone, Fate::Failed, 1, now);
    return set_lone(*pod, {}, now);
  }
  const GroupKey& leaf = *pod->facts.group;
  note_stranded(leaf, now);
  const GroupSpec* root = forest_.root_of(leaf);
  if (root == nullptr) return;
  const auto at = groups_.find(root->key);
  if (at == groups_.end() || at->second->place == Place::InFlight) return touch(leaf, true, now);
  Entity& entity = *at->second;
  // It comes back into a tree that rests, waits or is empty: the error's backoff holds for all of
  // it. A tree that is active is tried anyway.
  if (entity.place == Place::Active) return;
  move(entity, Place::Nowhere);
  fail(entity, Fate::Failed, 1, now);
  settle_group(entity, true, now);
}

void SchedulingQueue::tree_bind_failed(const GroupKey& root, std::span<const std::string> uids,
                                       Time now) {
  std::size_t returned = 0;
  for (const std::string& uid : uids) {
    Pod* pod = find(uid);
    if (pod == nullptr || pod->state != State::Away) continue;
    pod->queued_at = now;
    pod->refused_by = nullptr;
    stand(*pod, pod->facts.gated ? State::Gated : State::Waiting);
    note_stranded(*pod->facts.group, now);
    ++returned;
  }
  const auto at = groups_.find(root);
  if (returned == 0 || at == groups_.end()) return touch(root, true, now);
  Entity& entity = *at->second;
  if (entity.place == Place::InFlight) return touch(root, true, now);
  move(entity, Place::Nowhere);
  fail(entity, Fate::Failed, returned, now);
  settle_group(entity, true, now);
}

// --- Looking in ---

std::optional<Time> SchedulingQueue::next_deadline() const {
  std::optional<Time> next;
  const auto offer = [&next](Time time) { next = next ? std::min(*next, time) : time; };
  if (!backoff_.empty()) offer(backoff_end((*backoff_.begin())->expires));
  if (!error_backoff_.empty()) offer(backoff_end((*error_backoff_.begin())->expires));
  if (!resting_.empty()) offer((*resting_.begin())->rest_since + options_.rest_max);
  if (!comparisons_.empty()) offer(comparisons_.begin()->first);
  for (const auto& [leaf, missing] : stranded_)
    if (missing.told.empty()) offer(missing.since + options_.stranded_patience);
  return next;
}

SchedulingQueue::Counts SchedulingQueue::counts() const {
  Counts counts{.active = active_.size(),
                .backoff = backoff_.size() + error_backoff_.size(),
                .resting = resting_.size(),
                .gated = gated_,
                .incomplete = 0};
  for (const auto& [leaf, missing] : stranded_) counts.incomplete += pending_.at(leaf).size();
  return counts;
}

}  // namespace muster::scheduler
