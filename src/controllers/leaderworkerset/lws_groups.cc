#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "base/check.h"
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
// A user who takes all these names makes only their own replica wait.
constexpr std::int32_t kIncarnationsMax = 20;
// After this long a server that refused a group is asked again.
constexpr Duration kPause = std::chrono::seconds{30};

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
               on_group_created(key, *set, kind_name, outcome, now);
             });
}

void LeaderWorkerSetController::on_group_created(const std::string& key, const api::Object& set,
                                                 std::string_view kind,
                                                 const client::Outcome& outcome, Time now) {
  const auto memory = memory_.find(key);
  if (memory == memory_.end() || memory->second.uid != set.meta().uid) return;
  if (outcome) {
    memory->second.blocked.reset();
    return;
  }
  if (outcome.error().reason == Reason::AlreadyExists) return;
  const std::string reason = fmt::format("{}{}", kind, kCreateFailed);
  memory->second.blocked = {"WorkloadSchedulingCreated", "False", reason, outcome.error().message,
                            set.meta().generation};
  record(set, "Warning", reason, outcome.error().message, now);
  work().add_at(now + kPause, key);
}

// All of a turn are made from one reading of the Workload.
void LeaderWorkerSetController::create_replica_groups(const Look& look,
                                                      std::vector<NewGroup> groups) {
  if (groups.empty()) return;
  // Whether they can be made at all does not depend on the replica.
  const Json& set = look.memory.document;
  const workload::LwsTemplates& templates = look.memory.templates;
  const Json workload = look.workload->document();
  const workload::Stamper stamper(workload);
  const auto fault = [&](const NewGroup& group) {
    auto made =
        workload::lws_replica_groups(set, workload, stamper, templates, group.replica, group.size);
    if (!made) block(look, kInvalidScheduling, made.error().message);
    return !made;
  };
  if (fault(groups.front()) || fault(groups.back())) return;
  look.memory.makes_groups = true;
  struct Making {
    Making(const api::Object& of, const api::Object& from)
        : owner(of.document()), source(from.document()), stamper(source) {}
    const Json owner;
    const Json source;
    const workload::Stamper stamper;
  };
  const auto list = std::make_shared<const std::vector<NewGroup>>(std::move(groups));
  const auto start_making = [set_object = look.set, from = look.workload, templates,
                             list]() -> Make {
    return [&, making = std::make_shared<const Making>(*set_object, *from)](std::size_t at) {
      const NewGroup& group = (*list)[at];
      auto made = workload::lws_replica_groups(making->owner, making->source, making->stamper,
                                               templates, group.replica, group.size);
      CHECK(made.has_value());  // there was no fault
      workload::StampedGroup& stamped = made->at(group.place);
      JsonObject& metadata = api::ensure_object(stamped.document.as_object(), "metadata");
      api::ensure_object(metadata, "annotations")[kLwsLeaderGroup] = group.leader;
      return client::create_request(*stamped.kind, set_object->meta().name_space,
                                    std::move(stamped.document));
    };
  };
  write_in_batches(look.key, {.count = list->size(), .start_making = start_making},
                   [this, key = look.key, set_object = look.set, list](
                       std::size_t at, const client::Outcome& outcome, Time now) {
                     on_group_created(key, *set_object, (*list)[at].kind->kind, outcome, now);
                     return !outcome && outcome.error().reason != Reason::AlreadyExists;
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
    const Look& look, std::int32_t index, const LeaderTemplate& from,
    std::vector<NewGroup>& missing) {
  const workload::LwsLevels& levels = look.memory.templates.levels;
  const Json& set = look.memory.document;
  if (!levels.any()) return {.there = true};
  LwsReplica replica{.index = index, .revision = from.revision};
  if (!levels.replica && !levels.roles)
    return {.there = true,
            .leader = workload::lws_pod_group(set, levels, replica, LwsRole::Leader)};
  for (std::int32_t attempt = 0; attempt < kIncarnationsMax; ++attempt) {
    const std::string leader = workload::lws_pod_group(set, levels, replica, LwsRole::Leader);
    const auto names = workload::lws_replica_group_names(set, levels, replica, from.size);
    bool taken = false;
    bool lacks_parent = false;
    std::vector<NewGroup> lacking;
    for (std::size_t place = 0; place < names.size(); ++place) {
      const bool composite = names[place].kind == &api::kinds::composite_pod_group();
      const ObjectPtr found = (composite ? composites_ : pod_groups_)
                                  .find(look.set->meta().name_space, names[place].name);
      if (found == nullptr) {
        // Parents stand before children: what is below one that is missing comes when it is seen.
        if (!lacks_parent)
          lacking.push_back({names[place].kind, place, replica, from.size, leader});
        lacks_parent |= composite;
      } else if (found->meta().deletion_time || !is_controlled_by(*found, look.set->meta().uid) ||
                 (!composite && is_used(*found))) {
        taken = true;
      }
    }
    if (taken) {
      replica.incarnation = revision_hash(leader, attempt).substr(0, kIncarnationLetters);
      continue;
    }
    if (lacking.empty()) return {.there = true, .leader = leader};
    std::ranges::move(lacking, std::back_inserter(missing));
    return {};
  }
  look.memory.makes_groups = true;
  block(look, fmt::format("PodGroup{}", kCreateFailed),
        fmt::format("replica {}: {} names of its groups are taken, by groups that are in use, are "
                    "being deleted or belong to somebody else; it gets its own when one is gone",
                    index, kIncarnationsMax));
  return {};
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
    look.table.revisit(index);  // until it is gone
    if (!each.meta().deletion_time && !is_used(each)) delete_group(look, each);
  }
  for (const auto* entry : composites_.indexed(term)) {
    const api::Object& each = *entry->object;
    const std::string leader_group = annotated_leader_group(each);
    if (leader_group == current || still.contains(leader_group) || each.meta().deletion_time ||
        !is_controlled_by(each, look.set->meta().uid))
      continue;
    look.table.revisit(index);
    delete_group(look, each);
  }
}

}  // namespace muster::controllers
