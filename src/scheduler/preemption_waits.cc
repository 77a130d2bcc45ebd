// Preemptors that wait until their victims are gone.
#include <fmt/format.h>

#include <utility>

#include "api/views/pod_facts.h"
#include "base/log.h"
#include "scheduler/preemptions.h"

namespace muster::scheduler {

using api::ObjectPtr;
using api::view_of;

std::set<std::string> uids_of(const std::vector<VictimUnit>& victims) {
  std::set<std::string> uids;
  for (const VictimUnit& unit : victims)
    for (const VictimUnit::Pod& victim : unit.pods) uids.insert(victim.pod->meta().uid);
  return uids;
}

void Preemptions::wait_for(const EntityKey& entity, const PreemptionPlan& plan) {
  std::set<std::string>& uids = waits_for_[entity];
  uids.merge(uids_of(plan.victims));
  for (const ObjectPtr& pod : plan.leaving) uids.insert(pod->meta().uid);
  for (const std::string& uid : uids) awaited_by_[uid].insert(entity);
}

void Preemptions::forget(const EntityKey& entity) {
  const auto at = waits_for_.find(entity);
  if (at == waits_for_.end()) return;
  for (const std::string& uid : at->second) {
    const auto awaited = awaited_by_.find(uid);
    awaited->second.erase(entity);
    if (awaited->second.empty()) awaited_by_.erase(awaited);
  }
  waits_for_.erase(at);
}

void Preemptions::pod_left(std::string_view uid, Time now) {
  units_.pod_leaves(uid, now);
  executions_.evicted(uid, now);
  if (const auto marked = marked_.find(uid); marked != marked_.end()) marked_.erase(marked);
  if (const auto refused = refused_.find(uid); refused != refused_.end()) refused_.erase(refused);
  forget(EntityKey(std::string(uid)));  // the pod may be a preemptor itself
  const auto at = awaited_by_.find(uid);
  if (at == awaited_by_.end()) return;
  const std::set<EntityKey> waiting = std::move(at->second);
  awaited_by_.erase(at);
  for (const EntityKey& entity : waiting) {
    const auto left = waits_for_.find(entity);
    left->second.erase(std::string(uid));
    if (!left->second.empty()) continue;
    waits_for_.erase(left);
    queue_.release(entity, now);
  }
}

void Preemptions::say_refused(const ObjectPtr& victim, const Error& error, Time now) {
  std::string& said = refused_[victim->meta().uid];
  if (said == error.message) return;
  said = error.message;
  report_.not_evicted(
      *victim, fmt::format("the server refuses to delete it, to make room: {}", error.message),
      now);
}

// The preemptor looks again: others may be in its way by now.
void Preemptions::failed(const ObjectPtr& pod, const Error& error, Time now) {
  log(LogLevel::Info, "preemption: {}: {}", api::key_text(pod->meta()), error.message);
  const std::string& uid = pod->meta().uid;
  executions_.failed(uid, now);
  if (!view_of(pod).node_name.empty() && error.reason != Reason::NotFound)
    say_refused(pod, error, now);
  model_.nominations().give_up(uid);
  const auto at = awaited_by_.find(uid);
  if (at == awaited_by_.end()) return;
  const std::set<EntityKey> waiting = at->second;
  for (const EntityKey& entity : waiting) {
    forget(entity);
    queue_.release_later(entity, now);
  }
}

}  // namespace muster::scheduler
