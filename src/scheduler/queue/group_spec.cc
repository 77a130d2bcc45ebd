#include "scheduler/queue/group_spec.h"

#include <algorithm>

#include "api/workloads/group_view.h"

namespace muster::scheduler {

std::optional<GroupSpec> read_group(const api::ObjectPtr& object) {
  const bool is_leaf = object->kind().kind == "PodGroup";
  if (!is_leaf && object->kind().kind != "CompositePodGroup") return std::nullopt;
  const api::ObjectMeta& meta = object->meta();
  const api::GroupView& view = object->view<api::GroupView>();
  GroupSpec group;
  group.key = {is_leaf ? GroupKind::PodGroup : GroupKind::CompositePodGroup, meta.name_space,
               meta.name};
  group.object = object;
  group.parent = view.parent;
  group.gang = view.gang;
  group.minimum = std::max(1, view.minimum);
  group.topology_key = view.topology_key;
  group.priority = view.priority;
  group.disrupted_together = view.disrupted_together;
  group.created = meta.creation_time.value_or(Time{});
  return group;
}

}  // namespace muster::scheduler
