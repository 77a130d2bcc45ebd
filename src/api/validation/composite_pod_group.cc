#include "api/validation/composite_pod_group.h"

#include "api/reading.h"
#include "api/schema/schema.h"
#include "api/validation/group_rules.h"
#include "api/validation/normalize.h"
#include "api/validation/object_meta.h"
#include "api/validation/status_rules.h"

namespace muster::api {
namespace {

bool same_variant(const Edit& policy) {
  for (const std::string_view variant : {"basic", "gang"}) {
    const Edit member = policy.member(variant);
    if ((member.now == nullptr) != (member.old == nullptr)) return false;
  }
  return true;
}

// Upstream fixes the whole policy. Under our gate the minimum of a gang may change, which is all
// there is to change in a policy that stays of its variant.
void validate_policy(const Edit& spec, const FieldPath& path, bool update, GroupRules& rules,
                     const Gates& gates) {
  const Edit policy = spec.member("schedulingPolicy");
  const bool fixed = !gates.on(Gate::MutableMinGroupCount) || !same_variant(policy);
  if (!update || !fixed)
    rules.policy(spec, path, "minGroupCount");
  else if (!rules.unchanged(policy))
    rules.immutable(path.child("schedulingPolicy"));
}

void validate_spec(const Edit& spec, bool update, GroupRules& rules, const Gates& gates) {
  const FieldPath path("spec");
  rules.parent_name(spec, path, {});
  rules.workload_ref(spec, path, {.required = true});
  validate_policy(spec, path, update, rules, gates);
  rules.constraints(spec, path, {});
  rules.disruption_mode(spec, path, {.required = true});
  rules.priority(spec, path);
}

Json spec_meaning(const Json& document) {
  return normalized(schema::message("scheduling/v1alpha3", "CompositePodGroupSpec"),
                    part_or_empty(document, "spec"));
}

}  // namespace

FieldErrors validate_composite_pod_group(const Json& document, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta(document, {}, errors);
  GroupRules rules(GroupRules::Write::Create, gates, errors);
  validate_spec({.now = &part_or_empty(document, "spec")}, false, rules, gates);
  return errors;
}

FieldErrors validate_composite_pod_group_update(const Json& now, const Json& old,
                                                const Gates& gates) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  const Json now_spec = spec_meaning(now);
  const Json old_spec = spec_meaning(old);
  GroupRules rules(GroupRules::Write::Update, gates, errors);
  validate_spec({.now = &now_spec, .old = &old_spec}, true, rules, gates);
  return errors;
}

FieldErrors validate_composite_pod_group_status_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_conditions(elements(part_or_empty(now, "status"), "conditions"),
                      FieldPath("status.conditions"), errors);
  return errors;
}

std::vector<std::string> composite_pod_group_warnings(const Json& document) {
  const std::string_view name = find_string(part_or_empty(document, "metadata"), "name");
  const std::string_view parent =
      find_string(part_or_empty(document, "spec"), "parentCompositePodGroupName");
  if (name.empty() || name != parent) return {};
  return {
      "spec.parentCompositePodGroupName: the group is its own parent, so nothing below it will "
      "ever be scheduled"};
}

}  // namespace muster::api
