#include "api/views/group_view.h"

#include "api/reading.h"
#include "api/values/well_known.h"

namespace muster::api {
namespace {

// Validation keeps what is stored in range; what comes from elsewhere is taken at its nearest.
std::int32_t as_int32(std::optional<std::int64_t> value, std::int32_t otherwise) {
  if (!value) return otherwise;
  if (*value > INT32_MAX) return INT32_MAX;
  if (*value < INT32_MIN) return INT32_MIN;
  return static_cast<std::int32_t>(*value);
}

void read_policy(const Json& policy, GroupView& view) {
  const Json* gang = find_set(policy, "gang");
  view.gang = gang != nullptr;
  if (gang == nullptr) return;
  auto minimum = find_integer(*gang, "minCount");
  if (!minimum) minimum = find_integer(*gang, "minGroupCount");
  view.minimum = as_int32(minimum, 1);
}

GroupPreemption read_preemption(std::string_view policy) {
  if (policy.empty()) return GroupPreemption::OfPods;
  return policy == kPreemptNever ? GroupPreemption::Never : GroupPreemption::LowerPriority;
}

std::vector<GroupCondition> read_group_conditions(const Json& document) {
  std::vector<GroupCondition> conditions;
  for (Condition& condition : read_conditions(document))
    conditions.push_back({std::move(condition), std::nullopt});
  const JsonArray& entries = elements(part_of(document, "status"), "conditions");
  for (std::size_t i = 0; i < conditions.size(); ++i)
    conditions[i].last_transition = parse_time(find_string(entries[i], "lastTransitionTime"));
  return conditions;
}

}  // namespace

std::unique_ptr<GroupView> GroupView::read(const Object& group) { return of(group.document()); }

std::unique_ptr<GroupView> GroupView::of(const Json& document) {
  auto view = std::make_unique<GroupView>();
  const Json& spec = part_of(document, "spec");
  read_policy(part_of(spec, "schedulingPolicy"), *view);
  const JsonArray& topology = elements(part_of(spec, "schedulingConstraints"), "topology");
  if (!topology.empty()) view->topology_key = find_string(topology.front(), "key");
  view->parent = find_string(spec, "parentCompositePodGroupName");
  const Json& reference = part_of(spec, "workloadRef");
  view->workload = find_string(reference, "workloadName");
  view->template_name = find_string(reference, "templateName");
  view->priority_class = find_string(spec, "priorityClassName");
  view->priority = as_int32(find_integer(spec, "priority"), 0);
  view->preemption = read_preemption(find_string(spec, "preemptionPolicy"));
  view->disrupted_together = find_set(part_of(spec, "disruptionMode"), "all") != nullptr;
  view->has_claims = !elements(spec, "resourceClaims").empty();
  view->conditions = read_group_conditions(document);
  return view;
}

const GroupCondition* GroupView::condition(std::string_view type) const {
  for (const GroupCondition& condition : conditions)
    if (condition.type == type) return &condition;
  return nullptr;
}

}  // namespace muster::api
