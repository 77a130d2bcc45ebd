#include "scheduler/framework/profile.h"
#include "scheduler/plugins/dynamic_resources.h"
#include "scheduler/plugins/node_affinity.h"
#include "scheduler/plugins/node_name.h"
#include "scheduler/plugins/node_ports.h"
#include "scheduler/plugins/node_resources_balanced_allocation.h"
#include "scheduler/plugins/node_resources_fit.h"
#include "scheduler/plugins/node_unschedulable.h"
#include "scheduler/plugins/scheduling_gates.h"
#include "scheduler/plugins/taint_toleration.h"
#include "scheduler/plugins/unjudged_fields.h"

namespace muster::scheduler {

// In the order plugins are asked; the number is the weight of the score.
Profile default_profile() {
  Profile profile;
  profile.add<SchedulingGates>(1);
  profile.add<UnjudgedFields>(1);
  profile.add<NodeName>(1);
  profile.add<NodeUnschedulable>(1);
  profile.add<TaintToleration>(3);
  profile.add<NodeAffinity>(2);
  profile.add<NodePorts>(1);
  profile.add<NodeResourcesFit>(1);
  profile.add<DynamicResources>(1);
  profile.add<NodeResourcesBalancedAllocation>(1);
  return profile;
}

}  // namespace muster::scheduler
