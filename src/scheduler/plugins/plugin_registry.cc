#include "scheduler/plugins/plugin_registry.h"

#include <algorithm>
#include <array>

#include "scheduler/plugins/dynamic_resources.h"
#include "scheduler/plugins/gang_scheduling.h"
#include "scheduler/plugins/image_locality.h"
#include "scheduler/plugins/inter_pod_affinity.h"
#include "scheduler/plugins/node_affinity.h"
#include "scheduler/plugins/node_declared_features.h"
#include "scheduler/plugins/node_name.h"
#include "scheduler/plugins/node_ports.h"
#include "scheduler/plugins/node_resources_balanced_allocation.h"
#include "scheduler/plugins/node_resources_fit.h"
#include "scheduler/plugins/node_set_placements.h"
#include "scheduler/plugins/node_unschedulable.h"
#include "scheduler/plugins/node_volume_limits.h"
#include "scheduler/plugins/pod_group_pods_count.h"
#include "scheduler/plugins/pod_topology_spread.h"
#include "scheduler/plugins/scheduling_gates.h"
#include "scheduler/plugins/taint_toleration.h"
#include "scheduler/plugins/topology_placement_generator.h"
#include "scheduler/plugins/volume_binding.h"
#include "scheduler/plugins/volume_restrictions.h"
#include "scheduler/plugins/volume_zone.h"

namespace muster::scheduler {
namespace {

using Point = ExtensionPoint;

// A plugin without arguments, or with the part of the arguments that is its own.
template <typename P>
RegisteredPlugin row(std::int64_t weight = 1) {
  return {P::kName, weight, false, [](const PluginArgs&) { return make_plugin<P>(); }};
}
template <typename P, auto Args>
RegisteredPlugin row(std::int64_t weight = 1) {
  return {P::kName, weight, false,
          [](const PluginArgs& args) { return make_plugin<P>(args.*Args); }};
}

// No profile can do without it: pods would be bound against what they ask for.
RegisteredPlugin permanent(RegisteredPlugin plugin) {
  plugin.is_permanent = true;
  return plugin;
}

// A plugin that the engine implements itself: there is nothing to make, but a profile may name
// it.
Plugin priority_sort(const PluginArgs&) { return {"PrioritySort", {Point::QueueSort}}; }
Plugin default_preemption(const PluginArgs&) {
  return {"DefaultPreemption", {Point::PreEnqueue, Point::PostFilter, Point::PodGroupPostFilter}};
}
Plugin default_binder(const PluginArgs&) { return {"DefaultBinder", {Point::Bind}}; }

// Partly the engine, partly a plugin.
Plugin gang_scheduling(const PluginArgs&) {
  Plugin plugin = make_plugin<GangScheduling>();
  plugin.points.add(Point::PreEnqueue);
  plugin.points.add(Point::Permit);
  return plugin;
}
// Without sets there is nothing to ask it.
Plugin node_set_placements(const PluginArgs& args) {
  Plugin plugin = make_plugin<NodeSetPlacements>(args.node_sets);
  if (args.node_sets.sets.empty()) plugin.placement_generate = nullptr;
  return plugin;
}

}  // namespace

// The number is the weight of the score.
std::span<const RegisteredPlugin> plugin_registry() {
  static const std::array kPlugins{
      row<SchedulingGates>(),
      RegisteredPlugin{"PrioritySort", 1, false, priority_sort},
      row<NodeName>(),
      row<NodeUnschedulable>(),
      row<TaintToleration>(3),
      row<NodeAffinity, &PluginArgs::node_affinity>(2),
      row<NodePorts>(),
      row<NodeResourcesFit, &PluginArgs::fit>(1),
      row<VolumeRestrictions>(),
      row<NodeVolumeLimits>(),
      row<VolumeBinding, &PluginArgs::volume_binding>(1),
      row<VolumeZone>(),
      row<PodTopologySpread, &PluginArgs::spread>(2),
      row<InterPodAffinity, &PluginArgs::pod_affinity>(2),
      permanent(row<DynamicResources>(2)),
      RegisteredPlugin{"DefaultPreemption", 1, false, default_preemption},
      row<NodeResourcesBalancedAllocation, &PluginArgs::balanced_resources>(1),
      row<ImageLocality>(1),
      RegisteredPlugin{"DefaultBinder", 1, false, default_binder},
      row<NodeDeclaredFeatures>(),
      RegisteredPlugin{GangScheduling::kName, 1, true, gang_scheduling},
      permanent(row<TopologyPlacementGenerator>()),
      RegisteredPlugin{NodeSetPlacements::kName, 1, false, node_set_placements},
      row<PodGroupPodsCount>(),
  };
  return kPlugins;
}

const RegisteredPlugin* find_plugin(std::string_view name) {
  const std::span<const RegisteredPlugin> all = plugin_registry();
  const auto at = std::ranges::find(all, name, &RegisteredPlugin::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace muster::scheduler
