#include "scheduler/preemption/unit_evictions.h"

#include <algorithm>

#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "base/check.h"
#include "client/client.h"
#include "scheduler/preemption/evictor.h"

namespace muster::scheduler {

using End = ObjectWrites::End;

bool UnitEvictions::is_evicted(const GroupKey& key) const {
  const auto at = evictions_.find(key);
  return at != evictions_.end() && at->second.stage != Stage::UnmarkGroup &&
         at->second.stage != Stage::UnmarkPods;
}

void UnitEvictions::evict(Unit unit, Time now) {
  const GroupKey key = unit.key;
  // Marks that nobody has followed up yet: what they mean is found out first.
  for (const api::ObjectPtr& pod : unit.pods)
    if (eviction_mark(pod->view<api::PodView>()) != nullptr) found(key, unit.group, pod, now);
  const auto at = evictions_.find(key);
  if (at == evictions_.end()) return start(key, std::move(unit), now);
  Eviction& current = at->second;
  if (current.next)
    for (const api::ObjectPtr& pod : current.next->pods)
      if (!current.pods.contains(pod->meta().uid)) victims_.erase(pod->meta().uid);
  for (const api::ObjectPtr& pod : unit.pods) victims_.emplace(pod->meta().uid, key);
  current.next = std::move(unit);
}

void UnitEvictions::start(const GroupKey& key, Unit unit, Time now) {
  const bool is_marked =
      marked_.contains(key) || eviction_mark(unit.group->view<api::GroupView>()) != nullptr;
  Eviction& eviction = evictions_[key];
  eviction.group = std::move(unit.group);
  eviction.message = std::move(unit.message);
  for (const api::ObjectPtr& pod : unit.pods) {
    eviction.pods.emplace(pod->meta().uid, pod);
    victims_.emplace(pod->meta().uid, key);
  }
  enter(key, is_marked ? Stage::ClearGroup : Stage::MarkPods, now);
}

void UnitEvictions::found(const GroupKey& key, const api::ObjectPtr& group,
                          const api::ObjectPtr& pod, Time now) {
  if (concerns(pod->meta().uid)) return;
  const auto [at, is_new] = evictions_.try_emplace(key);
  Eviction& eviction = at->second;
  eviction.pods.emplace(pod->meta().uid, pod);
  victims_.emplace(pod->meta().uid, key);
  if (is_new) {
    eviction.group = group;
    return enter(key, Stage::ReadGroup, now);
  }
  if (eviction.stage == Stage::Leaving) eviction.stage = Stage::DeletePods;
  if (eviction.stage == Stage::DeletePods || eviction.stage == Stage::UnmarkPods)
    about_pod(key, eviction, pod, now);
}

void UnitEvictions::unmark(const GroupKey& key, const api::ObjectPtr& group, Time now) {
  const auto [at, is_new] = evictions_.try_emplace(key);
  if (!is_new) return;
  at->second.group = group;
  enter(key, Stage::UnmarkGroup, now);
}

void UnitEvictions::pod_leaves(std::string_view uid, Time now) {
  const auto at = victims_.find(std::string(uid));
  if (at == victims_.end()) return;
  const GroupKey key = at->second;
  victims_.erase(at);
  Eviction& eviction = evictions_.at(key);
  eviction.pods.erase(std::string(uid));
  if (eviction.next)
    std::erase_if(eviction.next->pods,
                  [uid](const api::ObjectPtr& pod) { return pod->meta().uid == uid; });
  if (eviction.stage == Stage::Leaving && eviction.pods.empty()) end(key, now);
}

// --- stages ---

void UnitEvictions::enter(const GroupKey& key, Stage stage, Time now) {
  Eviction& eviction = evictions_.at(key);
  CHECK(eviction.calls == 0);
  eviction.stage = stage;
  eviction.failure.reset();
  switch (stage) {
    case Stage::ReadGroup:
    case Stage::ClearGroup:
    case Stage::MarkGroup:
    case Stage::UnmarkGroup: about_group(key, eviction, now); break;
    case Stage::MarkPods:
    case Stage::DeletePods:
    case Stage::UnmarkPods:
      for (const auto& [uid, pod] : eviction.pods) about_pod(key, eviction, pod, now);
      if (eviction.calls == 0) leave(key, now);
      break;
    case Stage::Leaving:
      if (eviction.pods.empty()) end(key, now);
      break;
  }
}

void UnitEvictions::leave(const GroupKey& key, Time now) {
  Eviction& eviction = evictions_.at(key);
  switch (eviction.stage) {
    case Stage::ReadGroup:
      if (eviction.is_marked) return enter(key, Stage::DeletePods, now);
      enter(key, Stage::UnmarkPods, now);
      return listener_.ended(key, now);
    case Stage::ClearGroup:
      if (eviction.failure) return give_up(key, eviction, now);
      marked_.erase(key);
      return enter(key, Stage::MarkPods, now);
    case Stage::MarkPods:
      if (eviction.failure) return give_up(key, eviction, now);
      return eviction.pods.empty() ? end(key, now) : enter(key, Stage::MarkGroup, now);
    case Stage::MarkGroup:
      if (eviction.failure) return give_up(key, eviction, now);
      listener_.decided(key, eviction.message, now);
      return enter(key, Stage::DeletePods, now);
    case Stage::DeletePods: return enter(key, Stage::Leaving, now);
    case Stage::UnmarkGroup: marked_.erase(key); return enter(key, Stage::UnmarkPods, now);
    case Stage::UnmarkPods: return end(key, now);
    case Stage::Leaving: break;
  }
  CHECK(false);
}

// Whether the group was marked is not known if the call failed: the mark goes first, and only then
// those of its pods.
void UnitEvictions::give_up(const GroupKey& key, Eviction& eviction, Time now) {
  for (const auto& [uid, pod] : eviction.pods) listener_.failed(pod, *eviction.failure, now);
  enter(key, Stage::UnmarkGroup, now);
  listener_.ended(key, now);
}

void UnitEvictions::end(const GroupKey& key, Time now) {
  const auto at = evictions_.find(key);
  const bool is_known = at->second.stage == Stage::UnmarkPods;
  std::optional<Unit> next = std::move(at->second.next);
  for (const auto& [uid, pod] : at->second.pods) victims_.erase(uid);
  evictions_.erase(at);
  if (next && !next->pods.empty()) return start(key, std::move(*next), now);
  if (!is_known) listener_.ended(key, now);
}

// --- calls ---

void UnitEvictions::about_group(const GroupKey& key, Eviction& eviction, Time now) {
  const api::ObjectPtr& group = eviction.group;
  ObjectWrites::Write write{
      .object = group,
      .request = {},
      .on_ended = [this, key](const ObjectWrites::Ended& ended,
                              Time at) { finished(key, ended, true, at); },
      .is_endless = eviction.stage == Stage::ReadGroup || eviction.stage == Stage::UnmarkGroup,
      .on_refused = {}};
  if (eviction.stage == Stage::MarkGroup) {
    marked_.insert(key);
    write.request = [group, message = eviction.message](Time at) {
      return std::optional(mark_request(*group, message, at));
    };
  } else if (eviction.stage != Stage::ReadGroup) {
    write.request = [group](Time at) { return std::optional(mark_request(*group, {}, at)); };
  }
  ++eviction.calls;
  writes_.add(std::move(write), now);
}

void UnitEvictions::about_pod(const GroupKey& key, Eviction& eviction, const api::ObjectPtr& pod,
                              Time now) {
  ObjectWrites::Write write{.object = pod,
                            .request = {},
                            .on_ended =
                                [this, key, pod](const ObjectWrites::Ended& ended, Time at) {
                                  if (evictions_.at(key).stage == Stage::DeletePods)
                                    listener_.deleted(pod, at);
                                  finished(key, ended, false, at);
                                },
                            .is_endless = eviction.stage == Stage::DeletePods,
                            .on_refused = {}};
  if (eviction.stage == Stage::DeletePods) {
    write.on_refused = [this, pod](const Error& error, Time at) {
      listener_.refused(pod, error, at);
    };
    write.request = [pod](Time) {
      return std::optional(client::delete_request(*pod, std::nullopt));
    };
  } else {
    const bool marks = eviction.stage == Stage::MarkPods;
    write.request = [pod, message = marks ? eviction.message : std::string()](Time at) {
      return std::optional(mark_request(*pod, message, at));
    };
  }
  ++eviction.calls;
  writes_.add(std::move(write), now);
}

void UnitEvictions::finished(const GroupKey& key, const ObjectWrites::Ended& ended, bool is_group,
                             Time now) {
  Eviction& eviction = evictions_.at(key);
  CHECK(eviction.calls > 0);
  --eviction.calls;
  if (ended.end == End::Failed) eviction.failure = ended.error;
  if (ended.end == End::Gone && is_group)
    eviction.failure = make_error(Reason::NotFound, "the group is gone");
  if (eviction.stage == Stage::ReadGroup && ended.end == End::Done &&
      eviction_mark(ended.object->view<api::GroupView>()) != nullptr) {
    eviction.is_marked = true;
    marked_.insert(key);
  }
  if (eviction.calls == 0) leave(key, now);
}

}  // namespace muster::scheduler
