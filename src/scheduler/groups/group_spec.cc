#include "scheduler/groups/group_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "api/values/go_duration.h"
#include "api/values/names.h"
#include "api/values/preferred_topology.h"
#include "api/values/well_known.h"
#include "api/views/group_view.h"

namespace muster::scheduler {
namespace {

// A text that is no number counts as absent.
std::int32_t expected_pods(const api::ObjectMeta& meta) {
  const std::string* text = api::lookup(meta.annotations, api::kExpectedPodsAnnotation);
  std::int32_t count = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), count);
  return std::max(0, count);
}

// Empty if what the annotations say of a preferred topology is in order.
std::string read_preferred(const api::ObjectMeta& meta, PreferredTopology& preferred) {
  const std::string* key = api::lookup(meta.annotations, api::kPreferredTopologyAnnotation);
  const std::string* wait = api::lookup(meta.annotations, api::kPreferredTopologyWaitAnnotation);
  if (key == nullptr)
    return wait == nullptr
               ? std::string()
               : fmt::format("annotation {} needs {}", api::kPreferredTopologyWaitAnnotation,
                             api::kPreferredTopologyAnnotation);
  if (const api::Messages wrong = api::check_qualified_name(*key); !wrong.empty())
    return fmt::format("annotation {}: \"{}\" is no label key: {}",
                       api::kPreferredTopologyAnnotation, *key, wrong.front());
  if (wait != nullptr) {
    const std::optional<Duration> duration = api::parse_go_duration(*wait);
    if (!duration)
      return fmt::format("annotation {}: \"{}\" is no length of time such as 10m",
                         api::kPreferredTopologyWaitAnnotation, *wait);
    preferred.wait = *duration;
  }
  preferred.key = *key;
  return {};
}

}  // namespace

std::optional<GroupKey> group_key(const api::Object& object) {
  const bool is_leaf = object.kind().kind == "PodGroup";
  if (!is_leaf && object.kind().kind != "CompositePodGroup") return std::nullopt;
  return GroupKey{is_leaf ? GroupKind::PodGroup : GroupKind::CompositePodGroup,
                  object.meta().name_space, object.meta().name};
}

std::optional<GroupSpec> read_group(const api::ObjectPtr& object, const api::Gates& gates) {
  using api::Gate;
  std::optional<GroupKey> key = group_key(*object);
  if (!key) return std::nullopt;
  const bool is_leaf = key->kind == GroupKind::PodGroup;
  if (!gates.on(is_leaf ? Gate::GenericWorkload : Gate::CompositePodGroup)) return std::nullopt;
  const api::ObjectMeta& meta = object->meta();
  const auto& view = object->view<api::GroupView>();
  GroupSpec group;
  group.key = std::move(*key);
  group.object = object;
  if (gates.on(Gate::CompositePodGroup)) group.parent = view.parent;
  group.workload = view.workload;
  group.template_name = view.template_name;
  group.gang = view.gang;
  group.minimum = std::max(1, view.minimum);
  if (gates.on(Gate::TopologyAwareWorkloadScheduling)) {
    group.topology_key = view.topology_key;
    group.malformed = read_preferred(meta, group.preferred);
  }
  group.priority = view.priority;
  group.disrupted_together = view.disrupted_together;
  // A server without the field, as 1.36 and 1.37 with its gate off are, leaves it to the pods.
  if (gates.on(Gate::PodGroupPreemptionPolicy) && view.preemption != api::GroupPreemption::OfPods)
    group.never_preempts = view.preemption == api::GroupPreemption::Never;
  if (is_leaf) group.declared_size = expected_pods(meta);
  group.created = meta.creation_time.value_or(Time{});
  return group;
}

bool schedules_alike(const GroupSpec& a, const GroupSpec& b) {
  const auto facts = [](const GroupSpec& group) {
    return std::tie(group.key, group.parent, group.gang, group.minimum, group.topology_key,
                    group.placements, group.preferred, group.malformed, group.priority,
                    group.disrupted_together, group.declared_size, group.never_preempts,
                    group.workload, group.template_name, group.created);
  };
  return facts(a) == facts(b);
}

std::string_view scheduled_condition(GroupKind kind) {
  return kind == GroupKind::PodGroup ? api::kPodGroupScheduled : api::kCompositePodGroupScheduled;
}

const api::Condition* scheduled_condition_of(const GroupSpec& group) {
  if (group.object == nullptr) return nullptr;
  return group.object->view<api::GroupView>().condition(scheduled_condition(group.key.kind));
}

bool was_scheduled(const GroupSpec& group) {
  const api::Condition* condition = scheduled_condition_of(group);
  return condition != nullptr && condition->status == "True";
}

}  // namespace muster::scheduler
