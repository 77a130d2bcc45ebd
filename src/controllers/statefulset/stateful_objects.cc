#include "controllers/statefulset/stateful_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "base/check.h"
#include "client/client.h"
#include "controllers/common/owners.h"
#include "controllers/common/pod_template.h"
#include "controllers/common/revisions.h"
#include "controllers/statefulset/roster.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

// A volume for each claim of the pod, in place of one of the same name.
void add_claims(const api::Object& set, std::int32_t ordinal, JsonObject& spec) {
  const auto& names = set.view<api::StatefulSetView>().claim_templates;
  if (names.empty()) return;
  JsonArray& volumes = api::ensure_array(spec, "volumes");
  for (const std::string& name : names) {
    const JsonObject volume{
        {"name", name},
        {"persistentVolumeClaim", JsonObject{{"claimName", claim_name(name, set, ordinal)}}}};
    const auto same = std::ranges::find_if(
        volumes, [&](const Json& each) { return api::find_string(each, "name") == name; });
    if (same == volumes.end())
      volumes.push_back(volume);
    else
      *same = volume;
  }
}

JsonObject identity_labels(std::string_view name, std::int32_t ordinal) {
  return {{kPodName, name}, {kPodIndex, std::to_string(ordinal)}};
}

bool is_ours(const api::OwnerReference& owner, std::string_view kind, std::string_view name) {
  return owner.kind == kind && owner.name == name;
}

JsonObject reference_to(const api::OwnerReference& owner) {
  return {{"apiVersion", owner.api_version},
          {"kind", owner.kind},
          {"name", owner.name},
          {"uid", owner.uid},
          {"controller", owner.controller}};
}

}  // namespace

const api::Kind& stateful_set_kind() { return apps_kind("StatefulSet"); }

const api::Kind& claim_kind() {
  static const api::Kind* const kKind = api::find_kind("", "PersistentVolumeClaim");
  CHECK(kKind != nullptr);
  return *kKind;
}

std::string pod_name(const api::Object& set, std::int32_t ordinal) {
  return fmt::format("{}-{}", set.meta().name, ordinal);
}

std::string claim_name(std::string_view claim_template, const api::Object& set,
                       std::int32_t ordinal) {
  return fmt::format("{}-{}-{}", claim_template, set.meta().name, ordinal);
}

StatefulPodMaker::StatefulPodMaker(const api::Object& set, const Json& pod_template,
                                   std::string_view revision)
    : set_(set), pod_(pod_from_template(set, pod_template)) {
  JsonObject& metadata = api::ensure_object(pod_, "metadata");
  metadata.erase("generateName");
  api::ensure_object(metadata, "labels")[kPodRevision] = revision;
  api::Scratch scratch;
  const Json document = api::members_in(scratch, set, {"spec"});
  if (const auto service = api::find_string(api::part_of(document, "spec"), "serviceName");
      !service.empty())
    api::ensure_object(pod_, "spec")["subdomain"] = service;
}

Json StatefulPodMaker::make(std::int32_t ordinal) const {
  JsonObject pod = pod_;
  const std::string name = pod_name(set_, ordinal);
  JsonObject& metadata = api::ensure_object(pod, "metadata");
  metadata["name"] = name;
  JsonObject& labels = api::ensure_object(metadata, "labels");
  for (const auto& label : identity_labels(name, ordinal)) labels[label.key()] = label.value();
  JsonObject& spec = api::ensure_object(pod, "spec");
  spec["hostname"] = name;
  add_claims(set_, ordinal, spec);
  return pod;
}

ClaimOwner claim_owner(const api::StatefulSetView& set, bool pod_condemned) {
  if (set.claims_go_with_pod && pod_condemned) return ClaimOwner::Pod;
  return set.claims_go_with_set ? ClaimOwner::Set : ClaimOwner::Nobody;
}

api::Request create_claim_request(const api::Object& set, std::string_view claim_template,
                                  std::int32_t ordinal) {
  const Json document = set.document();
  const Json& spec = api::part_of(document, "spec");
  JsonObject claim;
  for (const Json& each : api::elements(spec, "volumeClaimTemplates"))
    if (api::find_string(api::part_of(each, "metadata"), "name") == claim_template)
      claim = each.get_object();
  claim.erase("status");
  claim.erase("apiVersion");
  claim.erase("kind");
  JsonObject& metadata = api::ensure_object(claim, "metadata");
  metadata["name"] = claim_name(claim_template, set, ordinal);
  metadata["namespace"] = set.meta().name_space;
  JsonObject& labels = api::ensure_object(metadata, "labels");
  for (const auto& label : api::members(api::part_of(spec, "selector"), "matchLabels"))
    labels[label.key()] = label.value();
  if (claim_owner(set.view<api::StatefulSetView>(), false) == ClaimOwner::Set)
    metadata["ownerReferences"] = JsonArray{owner_reference(set)};
  return client::create_request(claim_kind(), set.meta().name_space, std::move(claim));
}

std::optional<api::Request> claim_owner_request(const api::Object& claim, const api::Object& set,
                                                const api::Object* pod, ClaimOwner owner) {
  const api::Object* wanted = owner == ClaimOwner::Set   ? &set
                              : owner == ClaimOwner::Pod ? pod
                                                         : nullptr;
  const std::string_view pod_name = pod == nullptr ? std::string_view() : pod->meta().name;
  JsonArray kept;
  bool has_wanted = false;
  bool changed = false;
  for (const api::OwnerReference& each : claim.meta().owners) {
    const bool is_wanted = wanted != nullptr && each.uid == wanted->meta().uid;
    has_wanted |= is_wanted;
    if (!is_wanted && (is_ours(each, "StatefulSet", set.meta().name) ||
                       (!pod_name.empty() && is_ours(each, "Pod", pod_name)))) {
      changed = true;
      continue;
    }
    if (!is_wanted && each.controller) return std::nullopt;
    kept.push_back(reference_to(each));
  }
  if (wanted != nullptr && !has_wanted) {
    kept.push_back(owner_reference(*wanted));
    changed = true;
  }
  if (!changed) return std::nullopt;
  // The whole list, so that nobody's change of it in between is lost: the revision is compared.
  return client::patch_request(
      claim.kind(), claim.meta().name_space, claim.meta().name, "", api::PatchType::Merge,
      JsonObject{
          {"metadata", JsonObject{{"uid", claim.meta().uid},
                                  {"resourceVersion", std::to_string(claim.revision().value)},
                                  {"ownerReferences", std::move(kept)}}}});
}

bool is_stale_claim(const api::Object& claim, const api::Object& set, const api::Object* pod) {
  for (const api::OwnerReference& each : claim.meta().owners)
    if (each.kind == "Pod" && ordinal_of(each.name, set.meta().name) &&
        (pod == nullptr || pod->meta().uid != each.uid))
      return true;
  return false;
}

api::Request name_pod_request(const api::Object& pod, std::int32_t ordinal) {
  return patch_meta_request(pod, {{"labels", identity_labels(pod.meta().name, ordinal)}});
}

api::Request stateful_status_request(const api::Object& set,
                                     const api::StatefulSetView::Status& status) {
  // Counts of zero are left out, but for those that are always there.
  const auto count = [](std::int32_t value) { return value == 0 ? Json(nullptr) : Json(value); };
  JsonObject body{{"observedGeneration", status.observed_generation},
                  {"replicas", status.replicas},
                  {"readyReplicas", count(status.ready)},
                  {"currentReplicas", count(status.current)},
                  {"updatedReplicas", count(status.updated)},
                  {"currentRevision", status.current_revision},
                  {"updateRevision", status.update_revision},
                  {"collisionCount", status.collisions.value_or(0)},
                  {"availableReplicas", status.available}};
  return client::patch_request(
      set.kind(), set.meta().name_space, set.meta().name, "status", api::PatchType::Merge,
      JsonObject{{"metadata", JsonObject{{"uid", set.meta().uid}}}, {"status", std::move(body)}});
}

}  // namespace muster::controllers
