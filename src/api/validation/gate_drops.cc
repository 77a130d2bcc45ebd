#include "api/validation/gate_drops.h"

#include <string_view>

#include "api/reading.h"
#include "api/validation/group_rules.h"

namespace muster::api {
namespace {

const Json* part(const Json* holder, std::string_view member) {
  return holder == nullptr ? nullptr : find(*holder, member);
}

bool uses(const Json* holder, std::string_view member) {
  const Json* value = holder == nullptr ? nullptr : find_set(*holder, member);
  return value != nullptr && !(value->is_array() && value->get_array().empty());
}

struct GatedField {
  std::string_view name;
  Gate gate;
};
constexpr GatedField kPodGroupFields[] = {
    {"schedulingConstraints", Gate::TopologyAwareWorkloadScheduling},
    {"resourceClaims", Gate::DRAWorkloadResourceClaims},
    {"preemptionPolicy", Gate::PodGroupPreemptionPolicy},
    {"parentCompositePodGroupName", Gate::CompositePodGroup}};
constexpr GatedField kPodGroupTemplateFields[] = {
    {"schedulingConstraints", Gate::TopologyAwareWorkloadScheduling},
    {"resourceClaims", Gate::DRAWorkloadResourceClaims},
    {"preemptionPolicy", Gate::PodGroupPreemptionPolicy}};
constexpr GatedField kCompositeFields[] = {{"preemptionPolicy", Gate::PodGroupPreemptionPolicy}};
constexpr GatedField kCompositeTemplateFields[] = {
    {"preemptionPolicy", Gate::PodGroupPreemptionPolicy},
    {"compositePodGroupTemplates", Gate::CompositePodGroup}};
constexpr GatedField kWorkloadFields[] = {{"compositePodGroupTemplates", Gate::CompositePodGroup}};
constexpr GatedField kPodFields[] = {{"schedulingGroup", Gate::GenericWorkload}};

void drop(Json* now, const Json* old, std::span<const GatedField> fields, const Gates& gates) {
  JsonObject* object = now == nullptr ? nullptr : now->if_object();
  if (object == nullptr) return;
  for (const GatedField& field : fields)
    if (!gates.on(field.gate) && !uses(old, field.name)) object->erase(field.name);
}

Json* edited(Json& holder, std::string_view member) {
  JsonObject* object = holder.if_object();
  return object == nullptr ? nullptr : object->if_contains(member);
}

JsonArray* edited_list(Json& holder, std::string_view member) {
  Json* list = edited(holder, member);
  return list == nullptr ? nullptr : list->if_array();
}

// Templates meet their stored selves by name. (Upstream goes by position among pod group templates,
// so that a reordered list can lose or keep the wrong fields.)
void drop_in_templates(Json& now, const Json* old, const Gates& gates) {
  const auto stored_items = [&](std::string_view list) {
    return NamedItems(old == nullptr ? nullptr : find_array(*old, list));
  };
  if (JsonArray* templates = edited_list(now, "podGroupTemplates")) {
    const NamedItems stored = stored_items("podGroupTemplates");
    for (Json& child : *templates)
      drop(&child, stored.find(find_string(child, "name")), kPodGroupTemplateFields, gates);
  }
  if (JsonArray* templates = edited_list(now, "compositePodGroupTemplates")) {
    const NamedItems stored = stored_items("compositePodGroupTemplates");
    for (Json& child : *templates) {
      const Json* before = stored.find(find_string(child, "name"));
      drop(&child, before, kCompositeTemplateFields, gates);
      drop_in_templates(child, before, gates);
    }
  }
}

}  // namespace

void drop_disabled_workload_fields(Json& now, const Json* old, const Gates& gates) {
  Json* spec = edited(now, "spec");
  if (spec == nullptr) return;
  drop(spec, part(old, "spec"), kWorkloadFields, gates);
  drop_in_templates(*spec, part(old, "spec"), gates);
}

void drop_disabled_pod_group_fields(Json& now, const Json* old, const Gates& gates) {
  const Json* old_spec = part(old, "spec");
  drop(edited(now, "spec"), old_spec, kPodGroupFields, gates);
  Json* status = edited(now, "status");
  if (status != nullptr && status->is_object() && !gates.on(Gate::DRAWorkloadResourceClaims) &&
      !uses(old_spec, "resourceClaims"))
    status->get_object().erase("resourceClaimStatuses");
}

void drop_disabled_composite_pod_group_fields(Json& now, const Json* old, const Gates& gates) {
  drop(edited(now, "spec"), part(old, "spec"), kCompositeFields, gates);
}

void drop_disabled_pod_fields(Json& now, const Json* old, const Gates& gates) {
  drop(edited(now, "spec"), part(old, "spec"), kPodFields, gates);
}

}  // namespace muster::api
