#include "controllers/jobset/shared_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "client/client.h"
#include "controllers/common/owners.h"
#include "controllers/jobset/job_set_keys.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

bool has_named(const JsonArray& list, std::string_view name) {
  return std::ranges::any_of(
      list, [&](const Json& each) { return api::find_string(each, "name") == name; });
}

bool is_mounted(const JsonObject& pod, std::string_view volume) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    const Json* containers = pod.if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (const Json& container : containers->get_array())
      if (has_named(api::elements(container, "volumeMounts"), volume)) return true;
  }
  return false;
}

SharedClaim make_claim(const api::Object& set, const Json& from, bool goes_with_set) {
  const Json& given = api::part_of(from, "metadata");
  SharedClaim out{.volume = std::string(api::find_string(given, "name")), .name = {}, .create = {}};
  out.name = fmt::format("{}-{}", out.volume, set.meta().name);
  JsonObject labels = api::members(given, "labels");
  labels[job_set::kSetName] = set.meta().name;
  JsonObject metadata{
      {"name", out.name}, {"namespace", set.meta().name_space}, {"labels", std::move(labels)}};
  if (const JsonObject& notes = api::members(given, "annotations"); !notes.empty())
    metadata["annotations"] = notes;
  if (goes_with_set) metadata["ownerReferences"] = JsonArray{owner_reference(set)};
  out.create = client::create_request(
      *api::find_kind("", "PersistentVolumeClaim"), set.meta().name_space,
      JsonObject{{"metadata", std::move(metadata)}, {"spec", api::part_of(from, "spec")}});
  return out;
}

}  // namespace

std::vector<SharedClaim> shared_claims(const api::Object& set, const Json& document) {
  std::vector<SharedClaim> out;
  for (const Json& policy : api::elements(api::part_of(document, "spec"), "volumeClaimPolicies")) {
    const bool retained =
        api::find_string(api::part_of(policy, "retentionPolicy"), "whenDeleted") == "Retain";
    for (const Json& from : api::elements(policy, "templates"))
      out.push_back(make_claim(set, from, !retained));
  }
  return out;
}

void add_claim_volumes(const std::vector<SharedClaim>& claims, JsonObject& pod) {
  for (const SharedClaim& claim : claims) {
    if (!is_mounted(pod, claim.volume)) continue;
    JsonArray& volumes = api::ensure_array(pod, "volumes");
    if (!has_named(volumes, claim.volume))
      volumes.push_back(
          JsonObject{{"name", claim.volume},
                     {"persistentVolumeClaim", JsonObject{{"claimName", claim.name}}}});
  }
}

}  // namespace muster::controllers
