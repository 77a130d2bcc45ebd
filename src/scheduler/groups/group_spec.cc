#include "scheduler/groups/group_spec.h"

#include <algorithm>
#include <charconv>

#include "api/values/well_known.h"
#include "api/views/group_view.h"

namespace muster::scheduler {
namespace {

// A text that is no number counts as absent.
std::int32_t expected_pods(const api::ObjectMeta& meta) {
  const std::string* text = api::lookup(meta.annotations, kExpectedPodsAnnotation);
  std::int32_t count = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), count);
  return std::max(0, count);
}

}  // namespace

std::optional<GroupSpec> read_group(const api::ObjectPtr& object, const api::Gates& gates) {
  using api::Gate;
  const bool is_leaf = object->kind().kind == "PodGroup";
  if (!is_leaf && object->kind().kind != "CompositePodGroup") return std::nullopt;
  if (!gates.on(is_leaf ? Gate::GenericWorkload : Gate::CompositePodGroup)) return std::nullopt;
  const api::ObjectMeta& meta = object->meta();
  const auto& view = object->view<api::GroupView>();
  GroupSpec group;
  group.key = {is_leaf ? GroupKind::PodGroup : GroupKind::CompositePodGroup, meta.name_space,
               meta.name};
  group.object = object;
  if (gates.on(Gate::CompositePodGroup)) group.parent = view.parent;
  group.workload = view.workload;
  group.template_name = view.template_name;
  group.gang = view.gang;
  group.minimum = std::max(1, view.minimum);
  if (gates.on(Gate::TopologyAwareWorkloadScheduling)) group.topology_key = view.topology_key;
  group.priority = view.priority;
  group.disrupted_together = view.disrupted_together;
  if (gates.on(Gate::PodGroupPreemptionPolicy))
    group.never_preempts = view.preemption == api::GroupPreemption::Never;
  if (is_leaf) group.declared_size = expected_pods(meta);
  group.created = meta.creation_time.value_or(Time{});
  return group;
}

const api::Condition* scheduled_condition_of(const GroupSpec& group) {
  if (group.object == nullptr) return nullptr;
  const bool is_leaf = group.key.kind == GroupKind::PodGroup;
  return group.object->view<api::GroupView>().condition(is_leaf ? api::kPodGroupScheduled
                                                                : api::kCompositePodGroupScheduled);
}

bool was_scheduled(const GroupSpec& group) {
  const api::Condition* condition = scheduled_condition_of(group);
  return condition != nullptr && condition->status == "True";
}

}  // namespace muster::scheduler
