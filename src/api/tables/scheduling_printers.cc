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
constexpr Column kStatus = {.name = "Status",
                            .description = "Whether the group has been scheduled."};
// Upstream's, and behind -o wide what no object says.
constexpr Column kPodGroupColumns[] = {
    kName,
    kPolicy,
    kWorkload,
    kStatus,
    kAge,
    {.name = "Members", .description = "Pods that name the group.", .priority = 1},
    {.name = "Scheduled", .description = "Those of them that have a node.", .priority = 1}};
// Upstream's have no Status, since nobody writes it there.
constexpr Column kCompositeColumns[] = {
    kName,
    kPolicy,
    kWorkload,
    kStatus,
    kAge,
    {.name = "Members", .description = "Groups that name it as their parent.", .priority = 1},
    {.name = "Scheduled", .description = "Those of them that were scheduled.", .priority = 1}};
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

std::string_view group_status(const Json& status, std::string_view type) {
  if (const Json* disruption = condition(status, "DisruptionTarget"))
    return find_string(*disruption, "reason");
  if (condition(status, type) == nullptr) return "Pending";
  return condition_is_true(status, type) ? "Scheduled" : "Unschedulable";
}

void print_group(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  print_policy_and_workload(part(document, "spec"), cells);
  cells.text(group_status(part(document, "status"), object.kind().kind + "InitiallyScheduled"));
  cells.age(object.meta().creation_time);
  if (cells.groups() == nullptr) {
    cells.text("<unknown>");
    cells.text("<unknown>");
    return;
  }
  const GroupCounts counts = cells.groups()->count(object);
  cells.text(std::to_string(counts.members));
  cells.text(std::to_string(counts.scheduled));
}

void print_workload(const Object& object, const Json&, Cells& cells) {
  cells.text(object.meta().name);
  cells.age(object.meta().creation_time);
}

}  // namespace

std::span<const Printer> scheduling_printers() {
  static constexpr Printer kPrinters[] = {
      {kGroup, "PriorityClass", kPriorityClassColumns, print_priority_class},
      {kGroup, "PodGroup", kPodGroupColumns, print_group},
      {kGroup, "CompositePodGroup", kCompositeColumns, print_group},
      {kGroup, "Workload", kWorkloadColumns, print_workload},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
