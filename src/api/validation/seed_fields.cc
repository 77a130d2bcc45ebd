#include "api/validation/seed_fields.h"

namespace muster::api {
namespace {

// `holder` is where the field stood, without indices; "*" is anywhere in what the kind says of
// scheduling.
struct SeedField {
  std::string_view kind;
  std::string_view holder;
  std::string_view name;
  std::string_view now;  // relative to the holder
};
constexpr SeedField kRenamed[] = {
    {"PodGroup", "spec", "podGroupTemplateRef", "workloadRef"},        // KEP-5832, 5547
    {"PodGroup", "spec", "podGroupTemplateReference", "workloadRef"},  // KEP-5547
    {"PodGroup", "spec", "podGroupTemplateName", "workloadRef.templateName"},
    {"PodGroup", "spec.workloadRef", "name", "workloadName"},  // KEP-5832
    {"PodGroup", "spec.workloadRef", "podGroupTemplateName", "templateName"},
    {"Pod", "spec", "workloadRef", "schedulingGroup.podGroupName"},  // KEP-5832
    {"Workload", "spec", "podGroupTemplate", "podGroupTemplates"},   // KEP-5547
    {"Workload", "spec", "podGroups", "podGroupTemplates"},
    {"Workload", "spec.controllerRef", "apiVersion", "apiGroup"},         // KEP-5547
    {"*", "*", "policy", "schedulingPolicy"},                             // KEP-6089
    {"*", "*", "constraints", "schedulingConstraints"},                   // KEP-6089
    {"*", "*", "scheduleConstraints", "schedulingConstraints"},           // KEP-5732
    {"*", "*", "disruption", "disruptionMode"},                           // KEP-6089
    {"*", "*", "topologyConstraints", "schedulingConstraints.topology"},  // KEP-5732
    {"*", "*", "level", "key"},                                           // KEP-6089, 5732
};

std::string without_indices(std::string_view path) {
  std::string plain;
  bool inside = false;
  for (const char c : path) {
    if (c == '[') inside = true;
    if (!inside) plain += c;
    if (c == ']') inside = false;
  }
  return plain;
}

// Where the kind speaks of scheduling and of nothing else.
bool about_scheduling(std::string_view kind, std::string_view holder) {
  if (kind == "Job") return holder.starts_with("spec.scheduling");
  if (kind == "CronJob") return holder.starts_with("spec.jobTemplate.spec.scheduling");
  return (kind == "PodGroup" || kind == "CompositePodGroup" || kind == "Workload") &&
         holder.starts_with("spec");
}

}  // namespace

std::string seed_field_hint(std::string_view kind, std::string_view path) {
  if (kind == "PodGroup" && path == "status.scheduledPods")
    return "there is no such count; the pods that name the group tell";
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view holder = path.substr(0, dot);
  const std::string_view name = path.substr(dot + 1);
  const std::string plain = without_indices(holder);
  for (const SeedField& field : kRenamed) {
    const bool here = field.kind == "*" ? about_scheduling(kind, plain)
                                        : field.kind == kind && field.holder == plain;
    if (here && field.name == name)
      return "use " + std::string(holder) + "." + std::string(field.now);
  }
  return {};
}

void explain_seed_fields(std::string_view kind, std::vector<std::string>& warnings) {
  constexpr std::string_view kUnknown = "unknown field \"";
  for (std::string& warning : warnings) {
    if (!warning.starts_with(kUnknown) || !warning.ends_with('"')) continue;
    const std::string_view path =
        std::string_view(warning).substr(kUnknown.size(), warning.size() - kUnknown.size() - 1);
    if (const std::string hint = seed_field_hint(kind, path); !hint.empty()) warning += ": " + hint;
  }
}

}  // namespace muster::api
