#include <string>

#include "api/tables/printer.h"

namespace muster::api::tables {
namespace {

constexpr std::string_view kGroup = "scheduling.k8s.io";

constexpr Column kPolicy = {.name = "Policy", .description = "Gang or Basic."};
constexpr Column kWorkload = {.name = "Workload", .description = "Workload the group belongs to."};
constexpr Column kPriorityClassColumns[] = {
    kName,
    {.name = "Value", .type = "integer", .description = "The priority it gives."},
    {.name = "Global-Default",
     .type = "boolean",
     .description = "Whether pods without a class get this one."},
    kAge,
    {.name = "PreemptionPolicy", .description = "Whether its pods may push out others."},
};
constexpr Column kPodGroupColumns[] = {
    kName,
    kPolicy,
    kWorkload,
    {.name = "Status", .description = "Whether the group has been scheduled."},
    kAge};
constexpr Column kCompositeColumns[] = {kName, kPolicy, kWorkload, kAge};
constexpr Column kWorkloadColumns[] = {kName, kAge};

void print_priority_class(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.number(integer(document, "value"));
  cells.boolean(truth(document, "globalDefault"));
  cells.age(object.meta().creation_time);
  cells.text(find_string(document, "preemptionPolicy"));
}

void print_policy_and_workload(const Json& spec, Cells& cells) {
  cells.text(is_set(part(spec, "schedulingPolicy"), "gang") ? "Gang" : "Basic");
  cells.text_or(find_string(part(spec, "workloadRef"), "workloadName"), "<none>");
}

std::string_view group_status(const Json& status) {
  if (const Json* disruption = condition(status, "DisruptionTarget"))
    return find_string(*disruption, "reason");
  if (condition(status, "PodGroupInitiallyScheduled") == nullptr) return "Pending";
  return condition_is_true(status, "PodGroupInitiallyScheduled") ? "Scheduled" : "Unschedulable";
}

void print_pod_group(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  print_policy_and_workload(part(document, "spec"), cells);
  cells.text(group_status(part(document, "status")));
  cells.age(object.meta().creation_time);
}

void print_composite(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  print_policy_and_workload(part(document, "spec"), cells);
  cells.age(object.meta().creation_time);
}

void print_workload(const Object& object, const Json&, Cells& cells) {
  cells.text(object.meta().name);
  cells.age(object.meta().creation_time);
}

}  // namespace

std::span<const Printer> scheduling_printers() {
  static constexpr Printer kPrinters[] = {
      {kGroup, "PriorityClass", kPriorityClassColumns, print_priority_class},
      {kGroup, "PodGroup", kPodGroupColumns, print_pod_group},
      {kGroup, "CompositePodGroup", kCompositeColumns, print_composite},
      {kGroup, "Workload", kWorkloadColumns, print_workload},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
