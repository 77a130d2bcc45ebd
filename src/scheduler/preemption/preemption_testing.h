#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/preemption_plan.h"
#include "scheduler/preemption/cost.h"

// Groups for tests of preemption, and what their plans cost.
namespace muster::scheduler {

struct GroupSample {
  std::string name;
  int minimum = 1;
  int priority = 0;
  bool all = false;  // disrupted as a whole
  std::string key = {};
  std::string parent = {};
  bool composite = false;

  api::ObjectPtr make() const {
    api::JsonObject spec{
        {"schedulingPolicy",
         api::JsonObject{
             {"gang", api::JsonObject{{composite ? "minGroupCount" : "minCount", minimum}}}}},
        {"priority", priority}};
    if (all) spec["disruptionMode"] = api::JsonObject{{"all", api::JsonObject{}}};
    if (!key.empty())
      spec["schedulingConstraints"] =
          api::JsonObject{{"topology", api::JsonArray{api::JsonObject{{"key", key}}}}};
    if (!parent.empty()) spec["parentCompositePodGroupName"] = parent;
    return api::Object::make(
        composite ? api::kinds::composite_pod_group() : api::kinds::pod_group(),
        api::JsonObject{
            {"metadata",
             api::JsonObject{{"name", name}, {"namespace", "default"}, {"uid", "group-" + name}}},
            {"spec", std::move(spec)}});
  }
  GroupKey group_key() const {
    return {composite ? GroupKind::CompositePodGroup : GroupKind::PodGroup, "default", name};
  }
};

inline std::vector<std::string> victim_names(const PreemptionPlan& plan) {
  std::vector<std::string> names;
  for (const VictimUnit& unit : plan.victims)
    for (const VictimUnit::Pod& pod : unit.pods) names.push_back(pod.pod->meta().name);
  std::ranges::sort(names);
  return names;
}

// Without lost work.
inline Cost cost_of(const PreemptionPlan& plan) {
  Cost cost;
  for (const VictimUnit& unit : plan.victims) {
    Cost one;
    one.pods = static_cast<std::int64_t>(unit.pods.size());
    one.priorities.emplace_back(unit.priority, one.pods);
    one.groups = unit.group ? 1 : 0;
    for (const VictimUnit::Pod& pod : unit.pods) one.violations += pod.exceeds.empty() ? 0 : 1;
    cost.add(one);
  }
  return cost;
}

}  // namespace muster::scheduler
