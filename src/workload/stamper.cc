#include "workload/stamper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "api/reading.h"
#include "workload/names.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

// What a template and its groups have in common.
constexpr std::string_view kCopied[] = {"schedulingPolicy",  "schedulingConstraints",
                                        "resourceClaims",    "disruptionMode",
                                        "priorityClassName", "priority",
                                        "preemptionPolicy"};

bool is_whole(const Json& item) {
  return api::find_set(api::part_of(item, "disruptionMode"), "all") != nullptr;
}

JsonObject group_metadata(const Stamper::Group& group, const Json& workload) {
  const Json& metadata = api::part_of(workload, "metadata");
  JsonObject out{{"name", group.name}, {"namespace", api::find_string(metadata, "namespace")}};
  JsonObject annotations;
  for (const auto& annotation : api::members(metadata, "annotations"))
    if (api::key_of(annotation).starts_with(kInheritedAnnotations))
      annotations[annotation.key()] = annotation.value();
  if (!annotations.empty()) out["annotations"] = std::move(annotations);
  JsonArray owners;
  for (const Owner& owner : group.owners) owners.push_back(owner_reference(owner));
  if (!owners.empty()) out["ownerReferences"] = std::move(owners);
  return out;
}

}  // namespace

Stamper::Stamper(const Json& workload) : workload_(workload) {
  add(api::part_of(workload, "spec"), "", false);
}

void Stamper::add(const Json& holder, std::string_view parent, bool inside_all) {
  for (const bool composite : {true, false})
    for (const Json& item :
         api::elements(holder, composite ? "compositePodGroupTemplates" : "podGroupTemplates")) {
      const std::string_view name = api::find_string(item, "name");
      const Template entry{
          .document = &item, .composite = composite, .parent = parent, .inside_all = inside_all};
      if (by_name_.emplace(name, entry).second) order_.push_back(name);
      if (composite) add(item, name, inside_all || is_whole(item));
    }
}

const Stamper::Template* Stamper::find(std::string_view template_name) const {
  const auto found = by_name_.find(template_name);
  return found == by_name_.end() ? nullptr : &found->second;
}

Result<Json> Stamper::pod_group(const Group& group) const { return make(group, false); }

Result<Json> Stamper::composite(const Group& group) const { return make(group, true); }

Result<Json> Stamper::make(const Group& group, bool composite) const {
  const std::string_view workload = api::find_string(api::part_of(workload_, "metadata"), "name");
  const Template* found = find(group.template_name);
  if (found == nullptr)
    return fail(Reason::NotFound, R"(Workload "{}" has no template "{}"; it has: {})", workload,
                group.template_name, fmt::join(order_, ", "));
  if (found->composite != composite)
    return fail(Reason::BadRequest, R"(template "{}" of Workload "{}" is one of {})",
                group.template_name, workload, found->composite ? "groups" : "pods");

  JsonObject spec;
  if (!group.parent.empty()) spec["parentCompositePodGroupName"] = group.parent;
  spec["workloadRef"] =
      JsonObject{{"workloadName", workload}, {"templateName", group.template_name}};
  for (const std::string_view member : kCopied)
    if (const Json* value = api::find_set(*found->document, member)) spec[member] = *value;
  if (found->inside_all && spec.find("disruptionMode") == spec.end())
    spec["disruptionMode"] = JsonObject{{"all", JsonObject()}};
  return Json(
      JsonObject{{"metadata", group_metadata(group, workload_)}, {"spec", std::move(spec)}});
}

std::vector<StampedGroup> stamp_each(const Json& workload, const std::vector<Owner>& owners) {
  const Stamper stamper(workload);
  const std::string_view name = api::find_string(api::part_of(workload, "metadata"), "name");
  std::vector<StampedGroup> groups;
  for (const std::string_view each : stamper.templates()) {
    const Stamper::Template& found = *stamper.find(each);
    const Stamper::Group group{
        .name = group_name(name, each),
        .template_name = std::string(each),
        .parent = found.parent.empty() ? std::string() : group_name(name, found.parent),
        .owners = owners};
    // Both succeed: the template is there, and of this kind.
    groups.push_back(
        found.composite
            ? StampedGroup{&api::kinds::composite_pod_group(), *stamper.composite(group)}
            : StampedGroup{&api::kinds::pod_group(), *stamper.pod_group(group)});
  }
  return groups;
}

Owner workload_owner(const Json& workload) {
  const Json& metadata = api::part_of(workload, "metadata");
  return {.api_version = "scheduling.k8s.io/v1beta1",
          .kind = "Workload",
          .name = std::string(api::find_string(metadata, "name")),
          .uid = std::string(api::find_string(metadata, "uid")),
          .controller = false,
          .block_owner_deletion = false};
}

}  // namespace muster::workload
