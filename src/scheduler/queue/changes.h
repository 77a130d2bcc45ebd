#pragma once

#include <vector>

#include "scheduler/framework/cluster_event.h"

namespace muster::scheduler {

// What the difference between two versions of an object means for waiting pods, as the events that
// plugins register for (docs/kubernetes-behaviour.md). Each change once, in upstream's order; empty
// if nothing that anybody waits for has changed, as after a heartbeat.
std::vector<ClusterEvent> node_changes(const api::ObjectPtr& before, const api::ObjectPtr& after);

// Both versions of a pod of `resource`: AssignedPod for one on a node, TargetPod for one that
// waits.
std::vector<ClusterEvent> pod_changes(const api::ObjectPtr& before, const api::ObjectPtr& after,
                                      Resource resource);

}  // namespace muster::scheduler
