#include "api/validation/pod_group.h"

#include "api/reading.h"
#include "api/schema/schema.h"
#include "api/validation/group_rules.h"
#include "api/validation/normalize.h"
#include "api/validation/object_meta.h"
#include "api/validation/status_rules.h"
#include "api/values/names.h"
#include "api/values/well_known.h"

namespace muster::api {
namespace {

void validate_spec(const Edit& spec, GroupRules& rules, const Gates& gates) {
  const bool topology = gates.on(Gate::TopologyAwareWorkloadScheduling);
  const FieldPath path("spec");
  rules.parent_name(spec, path, {.forbidden = !gates.on(Gate::CompositePodGroup)});
  rules.workload_ref(spec, path, {});
  rules.policy(spec, path, "minCount");
  // With the gate off, what is stored may be cleared but not changed.
  rules.constraints(spec, path, {.forbidden = !topology, .fixed = topology});
  rules.claims(spec, path);
  rules.disruption_mode(spec, path, {.required = true});
  rules.priority(spec, path);
}

void validate_claim_statuses(const Json& now, const Json& old, FieldErrors& errors) {
  const FieldPath path("status.resourceClaimStatuses");
  const JsonArray& statuses = elements(now, "resourceClaimStatuses");
  const JsonArray& stored = elements(old, "resourceClaimStatuses");
  if (statuses.empty() || statuses == stored) return;
  if (statuses.size() > kGroupClaimsMax) {
    errors.too_many(path, statuses.size(), kGroupClaimsMax);
    return;
  }
  refuse_same_names(statuses, schema::message("scheduling/v1beta1", "PodGroupResourceClaimStatus"),
                    path, errors);
  const NamedItems stored_items(&stored);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Json* before = stored_items.find(find_string(statuses[i], "name"));
    const Json* name = find_set(statuses[i], "resourceClaimName");
    if (name == nullptr || (before != nullptr && *before == statuses[i])) continue;
    const FieldPath item = path.index(i);
    errors.invalid_each(item.child("resourceClaimName"), text_of(*name),
                        check_dns_subdomain(text_of(*name), LengthWord::Bytes));
  }
}

Json normalized_part(const Json& document, std::string_view member, std::string_view message) {
  return normalized(schema::message("scheduling/v1beta1", message),
                    part_or_empty(document, member));
}

}  // namespace

FieldErrors validate_pod_group(const Json& document, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta(document, {}, errors);
  const Json& spec = part_or_empty(document, "spec");
  const FieldPath path("spec");
  if (find_set(spec, "parentCompositePodGroupName") != nullptr &&
      find_set(spec, "workloadRef") == nullptr)
    errors.required(path.child("workloadRef"),
                    "must be set when parentCompositePodGroupName is set");
  GroupRules rules(GroupRules::Write::Create, gates, errors);
  validate_spec({.now = &spec}, rules, gates);
  return errors;
}

FieldErrors validate_pod_group_update(const Json& now, const Json& old, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  const Json now_spec = normalized_part(now, "spec", "PodGroupSpec");
  const Json old_spec = normalized_part(old, "spec", "PodGroupSpec");
  GroupRules rules(GroupRules::Write::Update, gates, errors);
  validate_spec({.now = &now_spec, .old = &old_spec}, rules, gates);
  return errors;
}

FieldErrors validate_pod_group_status_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  const Json& status = part_or_empty(now, "status");
  validate_conditions(elements(status, "conditions"), FieldPath("status.conditions"), errors);
  const FieldPath path("status.resourceClaimStatuses");
  const NamedItems claims(&elements(part_or_empty(now, "spec"), "resourceClaims"));
  const JsonArray& statuses = elements(status, "resourceClaimStatuses");
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const FieldPath item = path.index(i);
    const std::string_view name = find_string(statuses[i], "name");
    if (claims.find(name) == nullptr)
      errors.invalid(item.child("name"), name,
                     "must match the name of an entry in `spec.resourceClaims`");
  }
  validate_claim_statuses(normalized_part(now, "status", "PodGroupStatus"),
                          normalized_part(old, "status", "PodGroupStatus"), errors);
  return errors;
}

}  // namespace muster::api
