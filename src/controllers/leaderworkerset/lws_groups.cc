#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "controllers/common/revisions.h"
#include "controllers/leaderworkerset/leader_worker_set_controller.h"
#include "controllers/leaderworkerset/lws_objects.h"

// The groups of a LeaderWorkerSet. No pod is made before the group that it names.
namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::ObjectPtr;
using workload::LwsReplica;
using workload::LwsRole;

constexpr std::size_t kIncarnationLetters = 5;
// After this long a server that refused a group is asked again.
constexpr Duration kPause = std::chrono::seconds{30};

std::string name_of(const Json& document) {
  return std::string(api::find_string(api::part_of(document, "metadata"), "name"));
}

api::Request resize_request(const api::Object& group, std::string_view member,
                            std::int32_t minimum) {
  const JsonObject gang{{"gang", JsonObject{{member, minimum}}}};
  return client::patch_request(group.kind(), group.meta().name_space, group.meta().name, "",
                               api::PatchType::Merge,
                               JsonObject{{"metadata", JsonObject{{"uid", group.meta().uid}}},
                                          {"spec", JsonObject{{"schedulingPolicy", gang}}}});
}

std::string annotated_leader_group(const api::Object& group) {
  const std::string* name = api::lookup(group.meta().annotations, kLwsLeaderGroup);
  return name == nullptr ? std::string() : *name;
}

}  // namespace

void LeaderWorkerSetController::block(const Look& look, std::string_view reason,
                                      std::string message) {
  if (!look.memory.blocked || look.memory.blocked->message != message)
    record(*look.set, "Warning", reason, message, look.now);
  look.memory.blocked = {"WorkloadSchedulingCreated", "False", std::string(reason),
                         std::move(message), look.set->meta().generation};
}

void LeaderWorkerSetController::unblock(Memory& memory, std::string_view reason) {
  if (memory.blocked && memory.blocked->reason == reason) memory.blocked.reset();
}

bool LeaderWorkerSetController::is_used(const api::Object& pod_group) const {
  return !pods_
              .indexed(
                  fmt::format("group/{}/{}", pod_group.meta().name_space, pod_group.meta().name))
              .empty();
}

void LeaderWorkerSetController::create_group(const Look& look, const api::Kind& kind,
                                             Json document) {
  look.memory.makes_groups = true;
  write_call(look.key,
             client::create_request(kind, look.set->meta().name_space, std::move(document)),
             [this, key = look.key, set = look.set, kind_name = kind.kind](
                 const client::Outcome& outcome, Time now) {
               const auto memory = memory_.find(key);
               if (memory == memory_.end() || memory->second.uid != set->meta().uid) return;
               if (outcome) {
                 memory->second.blocked.reset();
                 return;
               }
               if (outcome.error().reason == Reason::AlreadyExists) return;
               const std::string reason = fmt::format("{}{}", kind_name, kCreateFailed);
               memory->second.blocked = {"WorkloadSchedulingCreated", "False", reason,
                                         outcome.error().message, set->meta().generation};
               record(*set, "Warning", reason, outcome.error().message, now);
               work().add_at(now + kPause, key);
             });
}

void LeaderWorkerSetController::delete_group(const Look& look, const api::Object& group) {
  write_call(look.key, client::delete_request(group, std::nullopt),
             [this, key = look.key, set = look.set, kind = group.kind().kind,
              name = group.meta().name](const client::Outcome& outcome, Time now) {
               const auto memory = memory_.find(key);
               if (memory == memory_.end() || memory->second.uid != set->meta().uid) return;
               if (outcome || outcome.error().reason == Reason::NotFound)
                 return unblock(memory->second, kCleanupBlocked);
               const std::string message =
                   fmt::format("{} {} cannot be deleted: {}", kind, name, outcome.error().message);
               memory->second.blocked = {"WorkloadSchedulingCreated", "False",
                                         std::string(kCleanupBlocked), message,
                                         set->meta().generation};
               record(*set, "Warning", kCleanupBlocked, message, now);
             });
}

bool LeaderWorkerSetController::has_set_group(const Look& look) {
  const workload::LwsTemplates& templates = look.memory.templates;
  if (!templates.levels.set) return true;
  const Json workload = look.workload->document();
  auto made = workload::lws_set_group(look.memory.document, workload, templates);
  if (!made) {
    block(look, kInvalidScheduling, made.error().message);
    return false;
  }
  const bool composite = templates.levels.composite();
  const std::string name = workload::lws_set_group_name(look.memory.document);
  const client::Mirror& mirror = composite ? composites_ : pod_groups_;
  const ObjectPtr group = mirror.find(look.set->meta().name_space, name);
  if (!*made) {  // scaled to nothing: the group goes when its pods have
    if (group != nullptr && !group->meta().deletion_time && look.table.leaders() == 0)
      delete_group(look, *group);
    return true;
  }
  if (group == nullptr) {
    create_group(look, *(*made)->kind, std::move((*made)->document));
    return false;
  }
  if (!is_controlled_by(*group, look.set->meta().uid)) {
    block(look, fmt::format("{}{}", group->kind().kind, kCreateFailed),
          fmt::format("{} {} belongs to somebody else", group->kind().kind, name));
    return false;
  }
  if (group->meta().deletion_time) {
    block(look, kCleanupBlocked,
          fmt::format("{} {} is being deleted and something still holds it; it is made again when "
                      "it is gone",
                      group->kind().kind, name));
    return false;
  }
  const Json document = std::move((*made)->document);
  const std::int32_t minimum = api::GroupView::of(document)->minimum;
  const auto& view = group->view<api::GroupView>();
  const bool may_resize = !composite || gates_.on(api::Gate::MutableMinGroupCount);
  if (!view.gang || view.minimum == minimum || !may_resize) return true;
  write_call(look.key, resize_request(*group, composite ? "minGroupCount" : "minCount", minimum));
  return false;
}

// A replica gets groups that no pod is in: pods of an earlier one that are still going would count
// as members. If those of its name are taken, it gets another incarnation.
LeaderWorkerSetController::ReplicaGroups LeaderWorkerSetController::find_replica_groups(
    const Look& look, std::int32_t index, const LeaderTemplate& from) {
  const workload::LwsTemplates& templates = look.memory.templates;
  const workload::LwsLevels& levels = templates.levels;
  const Json& set = look.memory.document;
  if (!levels.any()) return {.there = true};
  const Json workload = look.workload->document();
  LwsReplica replica{.index = index, .revision = from.revision};
  if (!levels.replica && !levels.roles)
    return {.there = true,
            .leader = workload::lws_pod_group(set, levels, replica, LwsRole::Leader)};
  for (std::int32_t attempt = 0;; ++attempt) {
    auto groups = workload::lws_replica_groups(set, workload, templates, replica, from.size);
    if (!groups) {
      block(look, kInvalidScheduling, groups.error().message);
      return {};
    }
    const std::string leader = workload::lws_pod_group(set, levels, replica, LwsRole::Leader);
    bool taken = false;
    std::vector<workload::StampedGroup*> missing;
    for (workload::StampedGroup& group : *groups) {
      const bool composite = group.kind == &api::kinds::composite_pod_group();
      const ObjectPtr found = (composite ? composites_ : pod_groups_)
                                  .find(look.set->meta().name_space, name_of(group.document));
      if (found == nullptr)
        missing.push_back(&group);
      else if (found->meta().deletion_time || !is_controlled_by(*found, look.set->meta().uid) ||
               (!composite && is_used(*found)))
        taken = true;
    }
    if (taken) {
      replica.incarnation = revision_hash(leader, attempt).substr(0, kIncarnationLetters);
      continue;
    }
    if (missing.empty()) return {.there = true, .leader = leader};
    // Parents stand before children: what is below one that is missing comes when it is seen.
    const auto is_composite = [](const workload::StampedGroup* group) {
      return group->kind == &api::kinds::composite_pod_group();
    };
    if (std::ranges::any_of(missing, is_composite))
      std::erase_if(missing, std::not_fn(is_composite));
    for (workload::StampedGroup* group : missing) {
      JsonObject& metadata = api::ensure_object(group->document.as_object(), "metadata");
      api::ensure_object(metadata, "annotations")[kLwsLeaderGroup] = leader;
      create_group(look, *group->kind, std::move(group->document));
    }
    return {};
  }
}

// Groups of replicas that are gone, leaves first.
void LeaderWorkerSetController::remove_unused_groups(const Look& look, std::int32_t index,
                                                     const LwsGroup* group) {
  if (!look.memory.templates.levels.any()) return;
  const bool has_leader = group != nullptr && group->leader != nullptr;
  // One that is being made may find its groups.
  if (!has_leader && index < look.table.count()) return;
  if (has_leader && group->leader->meta().deletion_time) return;
  const std::string current =
      has_leader ? group->leader->view<api::PodView>().scheduling_group : std::string();
  const std::string term =
      fmt::format("replica/{}/{}/{}", look.set->meta().name_space, look.set->meta().name, index);
  std::set<std::string> still;  // leader groups of which a PodGroup is left
  for (const auto* entry : pod_groups_.indexed(term)) {
    const api::Object& each = *entry->object;
    const std::string leader_group = annotated_leader_group(each);
    if (leader_group == current || !is_controlled_by(each, look.set->meta().uid)) continue;
    still.insert(leader_group);
    look.table.make_due(index);  // until it is gone
    if (!each.meta().deletion_time && !is_used(each)) delete_group(look, each);
  }
  for (const auto* entry : composites_.indexed(term)) {
    const api::Object& each = *entry->object;
    const std::string leader_group = annotated_leader_group(each);
    if (leader_group == current || still.contains(leader_group) || each.meta().deletion_time ||
        !is_controlled_by(each, look.set->meta().uid))
      continue;
    look.table.make_due(index);
    delete_group(look, each);
  }
}

}  // namespace muster::controllers
