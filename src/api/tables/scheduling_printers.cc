#include <optional>
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
constexpr Column kMinimum = {
    .name = "Min", .description = "How many members it needs.", .priority = 1};
constexpr Column kDomain = {
    .name = "Domain", .description = "Where it runs, by its topology key.", .priority = 1};
constexpr Column kDetail = {
    .name = "Detail", .description = "What is missing, extra or in the way.", .priority = 1};
// Upstream's, and behind -o wide what no object says.
constexpr Column kPodGroupColumns[] = {
    kName,
    kPolicy,
    kWorkload,
    kStatus,
    kAge,
    kMinimum,
    {.name = "Members",
     .description = "Pods that name the group, but for failed and terminating ones.",
     .priority = 1},
    {.name = "Scheduled",
     .description = "Those of them that have a node or have succeeded.",
     .priority = 1},
    kDomain,
    kDetail};
// Upstream's have no Status, since nobody writes it there.
constexpr Column kCompositeColumns[] = {
    kName,
    kPolicy,
    kWorkload,
    kStatus,
    kAge,
    kMinimum,
    {.name = "Members", .description = "Groups that name it as their parent.", .priority = 1},
    {.name = "Scheduled",
     .description = "Those of them that have the members they need.",
     .priority = 1},
    kDomain,
    kDetail};
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

// The state of a group, from its status and what is counted.
struct GroupState {
  bool is_terminating = false;
  bool was_scheduled = false;
  bool is_leaf = false;
  std::optional<std::int64_t> minimum;  // of a gang
  std::optional<GroupCounts> counts;    // nullopt: nobody knows

  bool is_short() const {
    return was_scheduled && minimum && counts && counts->scheduled < *minimum;
  }
};

GroupState state_of(const Object& object, const Json& document, const Cells& cells) {
  GroupState out;
  out.is_terminating = object.meta().deletion_time.has_value();
  out.is_leaf = object.kind().kind == "PodGroup";
  out.was_scheduled =
      condition_is_true(part(document, "status"), object.kind().kind + "InitiallyScheduled");
  const Json& policy = part(part(document, "spec"), "schedulingPolicy");
  if (is_set(policy, "gang"))
    out.minimum = integer(part(policy, "gang"), out.is_leaf ? "minCount" : "minGroupCount", 1);
  if (cells.groups() != nullptr) out.counts = cells.groups()->count(object);
  return out;
}

std::string_view group_status(const Json& status, std::string_view type, const GroupState& state) {
  if (state.is_terminating) return "Terminating";
  if (const Json* disruption = condition(status, "DisruptionTarget"))
    return find_string(*disruption, "reason");
  if (condition(status, type) == nullptr) return "Pending";
  if (!state.was_scheduled) return "Unschedulable";
  return state.is_short() ? "BelowMinimum" : "Scheduled";
}

std::string detail_of(const GroupState& state) {
  const GroupCounts& counts = *state.counts;
  const auto count_of = [](std::int64_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
  };
  if (state.is_terminating)
    return counts.held_by.empty() ? "goes now" : "waits for " + counts.held_by;
  if (state.is_short()) return std::to_string(*state.minimum - counts.scheduled) + " missing";
  const std::int64_t extra = counts.members - counts.scheduled;
  if (state.was_scheduled && extra > 0)
    return count_of(extra, state.is_leaf ? "extra pod" : "extra group") +
           (extra == 1 ? " waits" : " wait");
  return "";
}

void print_group(const Object& object, const Json& document, Cells& cells) {
  const GroupState state = state_of(object, document, cells);
  cells.text(object.meta().name);
  print_policy_and_workload(part(document, "spec"), cells);
  cells.text(
      group_status(part(document, "status"), object.kind().kind + "InitiallyScheduled", state));
  cells.age(object.meta().creation_time);
  cells.text(state.minimum ? std::to_string(*state.minimum) : "<none>");
  if (!state.counts) {
    for (int column = 0; column < 4; ++column) cells.text("<unknown>");
    return;
  }
  cells.text(std::to_string(state.counts->members));
  cells.text(std::to_string(state.counts->scheduled));
  cells.text_or(state.counts->domains, "<none>");
  cells.text_or(detail_of(state), "<none>");
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
