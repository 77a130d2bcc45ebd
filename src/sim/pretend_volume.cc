#include "sim/pretend_volume.h"

#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/views/volume_views.h"
#include "client/client.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

api::Request patch(const api::Object& object, std::string_view subresource, JsonObject document) {
  api::ensure_object(document, "metadata")["uid"] = object.meta().uid;
  return client::patch_request(object.kind(), object.meta().name_space, object.meta().name,
                               subresource, api::PatchType::Merge, std::move(document));
}

JsonObject annotations(std::initializer_list<std::pair<std::string_view, Json>> pairs) {
  JsonObject all;
  for (const auto& [key, value] : pairs) all[key] = value;
  return JsonObject{{"annotations", std::move(all)}};
}

JsonObject reference_to(const api::Object& claim) {
  return {{"kind", "PersistentVolumeClaim"},
          {"apiVersion", "v1"},
          {"namespace", claim.meta().name_space},
          {"name", claim.meta().name},
          {"uid", claim.meta().uid},
          {"resourceVersion", std::to_string(claim.revision().value)}};
}

Json requirement(std::string_view key, const std::vector<std::string>& values) {
  JsonArray list;
  for (const std::string& value : values) list.emplace_back(value);
  return JsonObject{{"key", key}, {"operator", "In"}, {"values", std::move(list)}};
}

// One term of node affinity; empty: reachable from everywhere.
JsonArray reachable_from(const api::StorageClassView& storage_class, const api::Object* node) {
  JsonArray requirements;
  if (!storage_class.allowed_topologies.empty()) {
    for (const auto& [key, values] : storage_class.allowed_topologies.front()) {
      const std::string* here = node == nullptr ? nullptr : api::lookup(node->meta().labels, key);
      requirements.push_back(
          requirement(key, here == nullptr ? values : std::vector<std::string>{*here}));
    }
  } else if (node != nullptr) {
    if (const std::string* zone = api::lookup(node->meta().labels, kZone))
      requirements.push_back(requirement(kZone, {*zone}));
  }
  return requirements;
}

}  // namespace

// --- claims ---

api::Request set_class(const api::Object& claim, std::string_view storage_class) {
  return patch(claim, "", {{"spec", JsonObject{{"storageClassName", storage_class}}}});
}

api::Request unselect_node(const api::Object& claim) {
  return patch(claim, "",
               {{"metadata", annotations({{"volume.kubernetes.io/selected-node", nullptr}})}});
}

api::Request bind_claim(const api::Object& claim, const api::Object& volume) {
  return patch(claim, "",
               {{"metadata", annotations({{"pv.kubernetes.io/bind-completed", "yes"},
                                          {"pv.kubernetes.io/bound-by-controller", "yes"}})},
                {"spec", JsonObject{{"volumeName", volume.meta().name}}}});
}

api::Request claim_is_bound(const api::Object& claim, const api::Object& volume) {
  const Json document = volume.document();
  JsonObject status{{"phase", "Bound"}};
  if (const Json* modes = api::find_path(document, "spec.accessModes"))
    status["accessModes"] = *modes;
  if (const Json* capacity = api::find_path(document, "spec.capacity"))
    status["capacity"] = *capacity;
  return patch(claim, "status", {{"status", std::move(status)}});
}

api::Request set_claim_phase(const api::Object& claim, std::string_view phase) {
  return patch(claim, "status", {{"status", JsonObject{{"phase", phase}}}});
}

api::Request create_ephemeral_claim(const api::Object& pod, std::string_view volume) {
  const api::ObjectMeta& meta = pod.meta();
  const Json document = pod.document();
  JsonObject claim;
  if (const Json* spec = api::find(document, "spec"))
    if (const JsonArray* volumes = api::find_array(*spec, "volumes"))
      for (const Json& entry : *volumes)
        if (api::find_string(entry, "name") == volume)
          if (const Json* found = api::find_path(entry, "ephemeral.volumeClaimTemplate");
              found != nullptr && found->is_object())
            claim = found->get_object();
  JsonObject& metadata = api::ensure_object(claim, "metadata");
  metadata["name"] = meta.name + "-" + std::string(volume);
  metadata["namespace"] = meta.name_space;
  metadata["ownerReferences"] = JsonArray{JsonObject{{"apiVersion", "v1"},
                                                     {"kind", "Pod"},
                                                     {"name", meta.name},
                                                     {"uid", meta.uid},
                                                     {"controller", true},
                                                     {"blockOwnerDeletion", true}}};
  return client::create_request(api::kinds::persistent_volume_claim(), meta.name_space,
                                std::move(claim));
}

// --- volumes ---

api::Request claim_volume(const api::Object& volume, const api::Object& claim) {
  JsonObject metadata = annotations({{"pv.kubernetes.io/bound-by-controller", "yes"}});
  metadata["resourceVersion"] = std::to_string(volume.revision().value);
  return patch(
      volume, "",
      {{"metadata", std::move(metadata)}, {"spec", JsonObject{{"claimRef", reference_to(claim)}}}});
}

api::Request set_volume_phase(const api::Object& volume, std::string_view phase) {
  return patch(volume, "status", {{"status", JsonObject{{"phase", phase}}}});
}

api::Request create_volume(const api::Object& claim, const api::Object& storage_class,
                           const api::Object* node) {
  const auto& by = storage_class.view<api::StorageClassView>();
  const Json document = claim.document();
  const std::string name = "pvc-" + claim.meta().uid;
  JsonObject metadata = annotations({{"pv.kubernetes.io/provisioned-by", Json(by.provisioner)}});
  metadata["name"] = name;
  JsonObject spec{
      {"claimRef", reference_to(claim)},
      {"storageClassName", storage_class.meta().name},
      {"persistentVolumeReclaimPolicy", by.reclaim_policy.empty() ? "Delete" : by.reclaim_policy},
      {"csi", JsonObject{{"driver", by.provisioner}, {"volumeHandle", name}}}};
  if (const Json* requests = api::find_path(document, "spec.resources.requests"))
    spec["capacity"] = *requests;
  for (const std::string_view member : {"accessModes", "volumeMode", "volumeAttributesClassName"})
    if (const Json* value = api::find_path(document, std::string("spec.") + std::string(member)))
      spec[member] = *value;
  if (JsonArray terms = reachable_from(by, node); !terms.empty())
    spec["nodeAffinity"] = JsonObject{
        {"required", JsonObject{{"nodeSelectorTerms",
                                 JsonArray{JsonObject{{"matchExpressions", std::move(terms)}}}}}}};
  return client::create_request(
      api::kinds::persistent_volume(), "",
      JsonObject{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
}

}  // namespace muster::sim
