#include "scheduler/groups/template_rules.h"

#include <fmt/format.h>

#include "api/json.h"

namespace muster::scheduler {
namespace {

std::string_view kind_name(GroupKind kind) {
  return kind == GroupKind::PodGroup ? "PodGroup" : "CompositePodGroup";
}

void read_templates(const api::Json& holder, const std::string& parent, WorkloadTemplates& found) {
  if (const api::JsonArray* leaves = api::find_array(holder, "podGroupTemplates"))
    for (const api::Json& leaf : *leaves)
      found.templates[std::string(api::find_string(leaf, "name"))] = {GroupKind::PodGroup, parent};
  if (const api::JsonArray* composites = api::find_array(holder, "compositePodGroupTemplates"))
    for (const api::Json& composite : *composites) {
      const std::string name(api::find_string(composite, "name"));
      found.templates[name] = {GroupKind::CompositePodGroup, parent};
      read_templates(composite, name, found);
    }
}

std::string place_of(std::string_view parent_template) {
  return parent_template.empty() ? "a root" : fmt::format("below \"{}\"", parent_template);
}

}  // namespace

WorkloadTemplates WorkloadTemplates::read(const api::Object& workload) {
  WorkloadTemplates found;
  const api::Json document = workload.document();
  if (const api::Json* spec = api::find(document, "spec")) read_templates(*spec, "", found);
  return found;
}

std::string template_fault(const GroupSpec& group, const GroupSpec* parent,
                           const WorkloadTemplates& workload) {
  const auto at = workload.templates.find(group.template_name);
  if (at == workload.templates.end())
    return fmt::format(R"({} "{}" names template "{}", which Workload "{}" does not have)",
                       kind_name(group.key.kind), group.key.name, group.template_name,
                       group.workload);
  if (at->second.kind != group.key.kind)
    return fmt::format(R"({} "{}" names template "{}" of Workload "{}", which is for a {})",
                       kind_name(group.key.kind), group.key.name, group.template_name,
                       group.workload, kind_name(at->second.kind));
  const std::string_view stands_in = parent == nullptr ? std::string_view() : parent->template_name;
  if (at->second.parent != stands_in)
    return fmt::format(R"({} "{}" is {}, but template "{}" of Workload "{}" is {})",
                       kind_name(group.key.kind), group.key.name, place_of(stands_in),
                       group.template_name, group.workload, place_of(at->second.parent));
  return {};
}

}  // namespace muster::scheduler
