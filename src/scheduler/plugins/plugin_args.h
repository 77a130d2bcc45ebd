#pragma once

#include <string>
#include <vector>

#include "scheduler/framework/profile_settings.h"
#include "scheduler/plugins/inter_pod_affinity.h"
#include "scheduler/plugins/node_affinity.h"
#include "scheduler/plugins/node_resources_fit.h"
#include "scheduler/plugins/node_set_placements.h"
#include "scheduler/plugins/pod_topology_spread.h"
#include "scheduler/plugins/volume_binding.h"

namespace muster::scheduler {

// The arguments of one profile's plugins, for those that take any; what is not set has upstream's
// default.
struct PluginArgs {
  NodeResourcesFitArgs fit = {};
  std::vector<std::string> balanced_resources = {"cpu", "memory"};
  NodeAffinityArgs node_affinity = {};
  PodTopologySpreadArgs spread = {};
  InterPodAffinityArgs pod_affinity = {};
  PreemptionArgs preemption = {};
  VolumeBindingArgs volume_binding = {};
  NodeSetPlacementsArgs node_sets = {};
};

}  // namespace muster::scheduler
