#include "scheduler/queue/group_spec.h"

#include <algorithm>
#include <limits>

#include "api/json.h"

namespace muster::scheduler {

namespace {

// The 32-bit integer at `path`, or `fallback` if there is none.
std::int32_t integer_at(const api::Json& document, std::string_view path, std::int32_t fallback) {
  const api::Json* value = api::find_path(document, path);
  if (value == nullptr || !value->is_int64()) return fallback;
  const std::int64_t number = value->get_int64();
  const bool fits = number >= std::numeric_limits<std::int32_t>::min() &&
                    number <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(number) : fallback;
}

// The key of the one topology constraint a group may have.
std::string topology_key(const api::Json& document) {
  const api::Json* constraints = api::find_path(document, "spec.schedulingConstraints");
  const api::JsonArray* topology =
      constraints == nullptr ? nullptr : api::find_array(*constraints, "topology");
  if (topology == nullptr || topology->empty()) return {};
  return std::string(api::find_string(topology->front(), "key"));
}

}  // namespace

std::optional<GroupSpec> read_group(const api::ObjectPtr& object) {
  const bool is_leaf = object->kind().kind == "PodGroup";
  if (!is_leaf && object->kind().kind != "CompositePodGroup") return std::nullopt;
  const api::ObjectMeta& meta = object->meta();
  const api::Json document = object->document();
  GroupSpec group;
  group.key = {is_leaf ? GroupKind::PodGroup : GroupKind::CompositePodGroup, meta.name_space,
               meta.name};
  group.object = object;
  if (const api::Json* spec = api::find(document, "spec"))
    group.parent = api::find_string(*spec, "parentCompositePodGroupName");
  group.gang = api::find_path(document, "spec.schedulingPolicy.gang") != nullptr;
  if (group.gang)
    group.minimum = std::max(1, integer_at(document,
                                           is_leaf ? "spec.schedulingPolicy.gang.minCount"
                                                   : "spec.schedulingPolicy.gang.minGroupCount",
                                           1));
  group.topology_key = topology_key(document);
  group.priority = integer_at(document, "spec.priority", 0);
  group.disrupted_together = api::find_path(document, "spec.disruptionMode.all") != nullptr;
  group.created = meta.creation_time.value_or(Time{});
  return group;
}

}  // namespace muster::scheduler
