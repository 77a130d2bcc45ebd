#include "scheduler/queue/group_spec.h"

#include <algorithm>

#include "api/workloads/group_view.h"

namespace muster::scheduler {

std::optional<GroupSpec> read_group(const api::ObjectPtr& object, const api::Gates& gates) {
  using api::Gate;
  const bool is_leaf = object->kind().kind == "PodGroup";
  if (!is_leaf && object->kind().kind != "CompositePodGroup") return std::nullopt;
  if (!gates.on(is_leaf ? Gate::GenericWorkload : Gate::CompositePodGroup)) return std::nullopt;
  const api::ObjectMeta& meta = object->meta();
  const api::GroupView& view = object->view<api::GroupView>();
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
  group.created = meta.creation_time.value_or(Time{});
  return group;
}

}  // namespace muster::scheduler
