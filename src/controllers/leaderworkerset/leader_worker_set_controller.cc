#include "controllers/leaderworkerset/leader_worker_set_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/reading.h"
#include "api/views/controller_revision_view.h"
#include "api/views/pod_view.h"
#include "api/views/workload_view.h"
#include "controllers/common/memory.h"
#include "controllers/common/owners_workload.h"
#include "controllers/common/pod_facts.h"
#include "controllers/common/revisions.h"
#include "controllers/leaderworkerset/lws_objects.h"
#include "controllers/statefulset/roster.h"

namespace muster::controllers {
namespace {

using api::LeaderWorkerSetView;
using api::ObjectPtr;
using workload::kLwsGroupIndex;
using workload::kLwsName;

// What pods do is collected for a moment, so that a large set costs few looks.
constexpr Duration kBatchPeriod = std::chrono::milliseconds{50};
// How many replicas a look is for; of larger sets the next look goes on with the others.
constexpr std::size_t kReplicasMax = 500;
constexpr Duration kRoundPause = std::chrono::seconds{5};

bool has_name_label(const api::Object& object) {
  return api::lookup(object.meta().labels, kLwsName) != nullptr;
}

// The set that the object says it is of, if it has a label for it.
std::string key_of(const api::Object& object) {
  const std::string* name = api::lookup(object.meta().labels, kLwsName);
  return name == nullptr ? std::string() : object.meta().name_space + "/" + *name;
}

bool is_of(const api::OwnerReference* owner, std::string_view kind) {
  return owner != nullptr && owner->kind == kind;
}

std::string group_term(std::string_view name_space, std::string_view name) {
  return fmt::format("group/{}/{}", name_space, name);
}
std::string replica_term(std::string_view name_space, std::string_view set,
                         std::string_view index) {
  return fmt::format("replica/{}/{}/{}", name_space, set, index);
}

// Sets of an owner are found by it.
void index_set(const api::Object& set, std::vector<std::string>& out) {
  if (const api::OwnerReference* owner = controller_of(set))
    out.push_back(workload_term(set.meta().name_space, *owner));
}

// Pods are found by the group they are in.
void index_pod(const api::Object& pod, std::vector<std::string>& out) {
  const std::string& group = pod.view<api::PodView>().scheduling_group;
  if (!group.empty()) out.push_back(group_term(pod.meta().name_space, group));
}

// Groups are found by the replica they are for.
void index_group(const api::Object& group, std::vector<std::string>& out) {
  const std::string* set = api::lookup(group.meta().labels, kLwsName);
  const std::string* index = api::lookup(group.meta().labels, kLwsGroupIndex);
  if (set != nullptr && index != nullptr)
    out.push_back(replica_term(group.meta().name_space, *set, *index));
}

}  // namespace

LeaderWorkerSetController::LeaderWorkerSetController(api::Gates gates,
                                                     client::ComponentContext context)
    : WritingController("leaderworkerset", std::move(context), watches(*this)),
      gates_(gates),
      sets_({.own = index_set}),
      pods_({.own = index_pod}),
      revisions_({.owners = true}),
      workloads_({.own = index_by_root}),
      pod_groups_({.own = index_group}),
      composites_({.own = index_group}) {}

std::vector<LeaderWorkerSetController::Watch> LeaderWorkerSetController::watches(
    LeaderWorkerSetController& self) {
  const auto watch = [&self](const api::Kind& kind, client::Mirror& mirror,
                             Keys (LeaderWorkerSetController::*on)(const Change&), bool labeled) {
    return Watch{.kind = &kind,
                 .mirror = &mirror,
                 .keys_of = [&self, on](const Change& change) { return (self.*on)(change); },
                 .only = labeled ? has_name_label : std::function<bool(const api::Object&)>()};
  };
  using Self = LeaderWorkerSetController;
  return {watch(leader_worker_set_kind(), self.sets_, &Self::on_set, false),
          watch(api::kinds::pod(), self.pods_, &Self::on_pod, true),
          watch(apps_kind("StatefulSet"), self.stateful_sets_, &Self::on_stateful_set, true),
          // Those of the leader sets too: leaders that are held back are made from them.
          watch(controller_revision_kind(), self.revisions_, &Self::on_revision, true),
          watch(service_kind(), self.services_, &Self::on_service, true),
          watch(api::kinds::workload(), self.workloads_, &Self::on_workload, false),
          watch(api::kinds::pod_group(), self.pod_groups_, &Self::on_group, true),
          // All of them: one of an owner may be what a set's groups are to be part of.
          watch(api::kinds::composite_pod_group(), self.composites_, &Self::on_group, false)};
}

LeaderWorkerSetController::Keys LeaderWorkerSetController::on_set(const Change& change) {
  std::string key = api::key_text(change.newest().meta());
  showed(key, change);
  return {std::move(key)};
}

LeaderWorkerSetController::Keys LeaderWorkerSetController::on_pod(const Change& change) {
  const api::Object& pod = change.newest();
  const std::string key = key_of(pod);
  showed(key, change);
  const api::OwnerReference* owner = controller_of(pod);
  if (!is_of(owner, "StatefulSet")) return {};
  const std::string& name = *api::lookup(pod.meta().labels, kLwsName);
  if (owner->name == name) {
    if (const auto index = ordinal_of(pod.meta().name, name)) on_leader(key, *index, change);
  } else if (const auto index = ordinal_of(owner->name, name)) {
    if (const auto worker = ordinal_of(pod.meta().name, owner->name))
      on_worker(key, *index, *worker, change);
  }
  work().add_at(change.at + kBatchPeriod, key);
  return {};
}

void LeaderWorkerSetController::on_leader(const std::string& key, std::int32_t index,
                                          const Change& change) {
  LwsTable& table = tables_[key];
  if (change.after != nullptr)
    table.edit(index).put_leader(change.after);
  else
    table.edit(index).remove_leader(*change.before);
  table.refresh(index);
}

void LeaderWorkerSetController::on_worker(const std::string& key, std::int32_t index,
                                          std::int32_t worker, const Change& change) {
  LwsTable& table = tables_[key];
  if (change.after != nullptr)
    table.edit(index).put_member(worker, change.after);
  else
    table.edit(index).remove_member(worker, *change.before);
  table.refresh(index);
}

LeaderWorkerSetController::Keys LeaderWorkerSetController::on_stateful_set(const Change& change) {
  const api::Object& set = change.newest();
  const std::string key = key_of(set);
  showed(key, change);
  const std::string& name = *api::lookup(set.meta().labels, kLwsName);
  const auto index = ordinal_of(set.meta().name, name);
  if (index && is_of(controller_of(set), "Pod")) {
    LwsTable& table = tables_[key];
    if (change.after != nullptr)
      table.edit(*index).put_workers(change.after);
    else
      table.edit(*index).remove_workers(set);
    table.refresh(*index);
  }
  work().add_at(change.at + kBatchPeriod, key);
  return {};
}

LeaderWorkerSetController::Keys LeaderWorkerSetController::on_revision(const Change& change) {
  std::string key = key_of(change.newest());
  showed(key, change);
  return {std::move(key)};
}

LeaderWorkerSetController::Keys LeaderWorkerSetController::on_service(const Change& change) {
  std::string key = key_of(change.newest());
  showed(key, change);
  return {std::move(key)};
}

LeaderWorkerSetController::Keys LeaderWorkerSetController::on_workload(const Change& change) {
  const api::Object& workload = change.newest();
  const std::string& name_space = workload.meta().name_space;
  Keys keys;
  if (const api::OwnerReference* owner = controller_of(workload); is_of(owner, "LeaderWorkerSet"))
    keys.push_back(name_space + "/" + owner->name);
  const auto& view = workload.view<api::WorkloadView>();
  for (const auto* entry :
       sets_.indexed(workload_term(name_space, view.owner_group, view.owner_kind, view.owner_name)))
    keys.push_back(api::key_text(entry->object->meta()));
  for (const std::string& key : keys) showed(key, change);
  return keys;
}

LeaderWorkerSetController::Keys LeaderWorkerSetController::on_group(const Change& change) {
  const api::Object& group = change.newest();
  if (const auto waiting = waiting_for_parent_.find(api::key_text(group.meta()));
      waiting != waiting_for_parent_.end() && &group.kind() == &api::kinds::composite_pod_group())
    for (const std::string& key : waiting->second) work().add(key, change.at);
  if (!has_name_label(group)) return {};
  std::string key = key_of(group);
  showed(key, change);
  if (change.after == nullptr)
    if (const auto memory = memory_.find(key); memory != memory_.end())
      unblock(memory->second, kCleanupBlocked);
  // What the scheduler says in its status does not concern the set.
  const bool same = change.before != nullptr && change.after != nullptr &&
                    change.before->meta().generation == change.after->meta().generation &&
                    change.before->meta().deletion_time == change.after->meta().deletion_time;
  if (same) return {};
  if (const std::string* text = api::lookup(group.meta().labels, kLwsGroupIndex))
    if (const auto index = ordinal_of("x-" + *text, "x"))
      tables_[key].make_due(*index);  // even if none of its pods is left
  return {std::move(key)};
}

void LeaderWorkerSetController::reconcile(const std::string& key, Time now) {
  begin_look(key);
  const auto [name_space, name] = client::split_key(key);
  const ObjectPtr set = sets_.find(name_space, name);
  if (set == nullptr) {
    if (const auto memory = memory_.find(key); memory != memory_.end()) {
      wait_for_parent(key, memory->second, "");
      memory_.erase(memory);
    }
    forget_writes(key);
    if (const auto table = tables_.find(key); table != tables_.end() && table->second.empty())
      tables_.erase(table);
    return;
  }
  if (set->meta().deletion_time || waits(key, now)) return;
  Look look{.key = key,
            .set = set,
            .view = set->view<LeaderWorkerSetView>(),
            .memory = recall(memory_, key, *set),
            .table = tables_[key],
            .now = now};
  refresh(look);
  look.memory.makes_groups = false;
  if (!find_revision(look)) return;
  const bool has_groups = has_workload(look);
  const bool has_names = has_service(look, nullptr);
  if (has_groups && has_names && reconcile_leader_set(look)) {
    create_leaders(look);
    look_at_due(look, true);
    // What could not be made exists after all: the answer was lost.
    if (!look.memory.makes_groups && look.memory.blocked &&
        look.memory.blocked->reason.ends_with(kCreateFailed))
      look.memory.blocked.reset();
  } else {
    look_at_due(look, false);
  }
  write_status(look);
}

void LeaderWorkerSetController::look_at_due(const Look& look, bool may_run) {
  const bool goes_on = std::exchange(look.memory.in_round, false);
  const std::vector<std::int32_t> due = look.table.pop_due(kReplicasMax);
  for (const std::int32_t index : due) {
    const LwsGroup* group = look.table.find(index);
    if (may_run && group != nullptr) look_at_replica(look, index, *group);
    // What is left of earlier replicas may be what holds the groups above.
    remove_unused_groups(look, index, group);
    if (!may_run) look.table.revisit(index);
  }
  charge(due.size());
  if (look.table.has_more()) {
    look.memory.in_round = true;
    work().add(look.key, look.now);
  } else if (goes_on && look.table.has_revisits()) {
    // What should have led to a look may have come in the middle of this round.
    work().add_at(look.now + kRoundPause, look.key);
  }
}

// Reads the set once per version of its spec.
void LeaderWorkerSetController::refresh(const Look& look) {
  Memory& memory = look.memory;
  if (memory.generation == look.set->meta().generation) return;
  memory.generation = look.set->meta().generation;
  memory.document = look.set->document();
  memory.data = lws_revision_data(memory.document);
  memory.data_text = api::sorted_text(memory.data);
  memory.templates = workload::lws_templates(memory.document);
  const api::Json& pods =
      api::part_of(api::part_of(memory.document, "spec"), "leaderWorkerTemplate");
  memory.pods_name_group =
      std::ranges::any_of(std::array<std::string_view, 2>{"leaderTemplate", "workerTemplate"},
                          [&](std::string_view member) {
                            const api::Json& pod = api::part_of(api::part_of(pods, member), "spec");
                            return api::find_set(pod, "schedulingGroup") != nullptr;
                          });
  memory.workload_compared = false;
  memory.blocked.reset();
}

bool LeaderWorkerSetController::find_revision(Look& look) {
  const std::vector<ObjectPtr> revisions = revisions_of(*look.set, revisions_);
  const api::JsonObject labels{{kLwsName, look.set->meta().name}};
  NewestRevision newest = newest_revision({.owner = *look.set,
                                           .data = look.memory.data,
                                           .data_text = look.memory.data_text,
                                           .labels = labels},
                                          revisions, revisions_);
  if (newest.request) {
    write_call(look.key, *std::move(newest.request));
    return false;
  }
  look.revision = hash_of(*newest.found);
  // One older than the newest is enough to go back to; those that replicas are made of stay.
  for (const ObjectPtr& old : surplus_revisions(revisions, 1, [&](const std::string& name) {
         return name == newest.found->meta().name ||
                look.table.has_revision(
                    hash_of(*revisions_.find(look.set->meta().name_space, name)));
       }))
    write_call(look.key, client::delete_request(*old, std::nullopt));
  return true;
}

bool LeaderWorkerSetController::has_service(const Look& look, const api::Object* leader) {
  if (leader == nullptr && look.view.own_subdomains) return true;
  const std::string& name = leader == nullptr ? look.set->meta().name : leader->meta().name;
  if (services_.find(look.set->meta().name_space, name) != nullptr) return true;
  write_call(look.key, create_service(*look.set, leader));
  return false;
}

}  // namespace muster::controllers
