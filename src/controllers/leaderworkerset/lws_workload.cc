#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "api/views/workload_view.h"
#include "controllers/common/owners_workload.h"
#include "controllers/leaderworkerset/leader_worker_set_controller.h"
#include "controllers/leaderworkerset/lws_keys.h"
#include "workload/job_set.h"
#include "workload/lws_delegation.h"

// The Workload whose templates the groups of a LeaderWorkerSet are made from: its own, or one that
// its owner has made.
namespace muster::controllers {

using api::Json;
using api::JsonObject;
using api::ObjectPtr;

bool LeaderWorkerSetController::may_group(const Look& look) {
  if (!gates_.on(api::Gate::GenericWorkload)) {
    block(look, "APINotAvailable",
          "Workloads and PodGroups are not served, or feature gate GenericWorkload is off");
    return false;
  }
  if (look.memory.templates.levels.composite() && !gates_.on(api::Gate::CompositePodGroup)) {
    block(look, "UnsupportedProviderCapability",
          "several levels of scheduling need CompositePodGroups, which are not served, or feature "
          "gate CompositePodGroup is off");
    return false;
  }
  return true;
}

bool LeaderWorkerSetController::has_workload(Look& look) {
  const std::optional<workload::Delegation> delegation =
      look.memory.pods_name_group ? std::nullopt : workload::delegation_of(look.set->meta());
  if (delegation) return has_owners_workload(look, *delegation) && has_set_group(look);
  if (look.memory.templates.is_owners)  // its owner does not decide any more
    look.memory.templates = workload::lws_templates(look.memory.document);
  if (!look.memory.templates.levels.any()) return true;
  return may_group(look) && has_own_workload(look) && !resizes_workload(look) &&
         has_set_group(look);
}

bool LeaderWorkerSetController::has_own_workload(Look& look) {
  Memory& memory = look.memory;
  const std::string name = workload::lws_workload_name(memory.document);
  look.workload = workloads_.find(look.set->meta().name_space, name);
  if (look.workload == nullptr) {
    Result<Json> made = workload::lws_workload(memory.document, gates_);
    if (made)
      create_group(look, api::kinds::workload(), *std::move(made));
    else
      block(look, kInvalidScheduling, made.error().message);
    return false;
  }
  if (!is_controlled_by(*look.workload, look.set->meta().uid)) {
    block(look, "WorkloadCreateFailed", fmt::format("Workload {} belongs to somebody else", name));
    return false;
  }
  if (look.workload->meta().deletion_time) {
    block(look, kParentNotReady,
          fmt::format("Workload {} is being deleted; it is made again when it is gone", name));
    return false;
  }
  unblock(memory, kParentNotReady);
  return true;
}

bool LeaderWorkerSetController::has_owners_workload(Look& look,
                                                    const workload::Delegation& delegation) {
  Memory& memory = look.memory;
  const std::string& name_space = look.set->meta().name_space;
  const auto refuse = [&](std::string_view reason, std::string message) {
    block(look, reason, std::move(message));
    return false;
  };
  // A Workload of its own from before: there would be two that decide.
  const std::string own = workload::lws_workload_name(memory.document);
  if (const ObjectPtr found = workloads_.find(name_space, own);
      found != nullptr && is_controlled_by(*found, look.set->meta().uid))
    return refuse(kInvalidScheduling,
                  fmt::format("annotation {} leaves its groups to {} {}, and it has a "
                              "Workload of its own, {}: only one of them can decide",
                              workload::kGroupTemplateAnnotation, delegation.owner.kind,
                              delegation.owner.name, own));
  std::vector<ObjectPtr> candidates;
  for (const auto* entry : workloads_.indexed(workload_term(name_space, delegation.owner)))
    candidates.push_back(entry->object);
  OwnersWorkload owners = owners_workload(delegation.owner, candidates);
  if (owners.found == nullptr) return refuse(kParentNotReady, std::move(owners.why_not));
  if (owners.found->meta().deletion_time)
    return refuse(kParentNotReady,
                  fmt::format("Workload {} is being deleted", owners.found->meta().name));
  Result<workload::LwsTemplates> templates =
      workload::delegated_lws_templates(memory.document, delegation, owners.found->document());
  if (!templates) return refuse(kInvalidScheduling, templates.error().message);
  memory.templates = *std::move(templates);
  if (!may_group(look)) return false;
  if (!delegation.parent_composite.empty()) {
    const ObjectPtr above = composites_.find(name_space, delegation.parent_composite);
    if (above == nullptr || above->meta().deletion_time) {
      wait_for_parent(look.key, memory, name_space + "/" + delegation.parent_composite);
      return refuse(kParentNotReady,
                    fmt::format("CompositePodGroup {}, which its groups are part of, {}",
                                delegation.parent_composite,
                                above == nullptr ? "does not exist yet" : "is being deleted"));
    }
  }
  wait_for_parent(look.key, memory, "");
  unblock(memory, kParentNotReady);
  unblock(memory, kInvalidScheduling);
  look.workload = owners.found;
  return true;
}

// The Workload's templates of pods follow the size of the set.
bool LeaderWorkerSetController::resizes_workload(const Look& look) {
  Memory& memory = look.memory;
  if (memory.workload_compared) return false;
  Result<Json> made = workload::lws_workload(memory.document, gates_);
  if (!made) {
    block(look, kInvalidScheduling, made.error().message);
    return true;
  }
  const auto wanted = api::Object::make(api::kinds::workload(), *made);
  const auto& stored = look.workload->view<api::WorkloadView>();
  for (const auto& each : wanted->view<api::WorkloadView>().templates) {
    const auto* now = stored.find(each.name);
    if (now == nullptr || each.composite || !now->gang || !each.gang ||
        now->minimum == each.minimum)
      continue;
    JsonObject metadata{{"uid", look.workload->meta().uid},
                        {"resourceVersion", std::to_string(look.workload->revision().value)}};
    Json patch =
        JsonObject{{"metadata", std::move(metadata)},
                   {"spec", workload::resized_templates(look.workload->document(), *made)}};
    write_call(look.key, client::patch_request(look.workload->kind(), look.set->meta().name_space,
                                               look.workload->meta().name, "",
                                               api::PatchType::StrategicMerge, std::move(patch)));
    return true;
  }
  memory.workload_compared = true;
  return false;
}

// A set waits for one parent at most.
void LeaderWorkerSetController::wait_for_parent(const std::string& key, Memory& memory,
                                                std::string parent) {
  if (memory.awaited_parent == parent) return;
  if (const auto before = waiting_for_parent_.find(memory.awaited_parent);
      before != waiting_for_parent_.end()) {
    before->second.erase(key);
    if (before->second.empty()) waiting_for_parent_.erase(before);
  }
  if (!parent.empty()) waiting_for_parent_[parent].insert(key);
  memory.awaited_parent = std::move(parent);
}

}  // namespace muster::controllers
