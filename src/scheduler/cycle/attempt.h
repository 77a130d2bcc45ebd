#pragma once

#include <cstdint>
#include <string>

#include "scheduler/cache/cluster.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/plan.h"
#include "scheduler/framework/profile.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/placement/options.h"

namespace muster::scheduler {

// One attempt, from what waits to a plan. Both leave the cluster unchanged: tentative moves are
// made on a draft and undone. Deterministic: same cluster history, same entity, same plan.
Plan attempt_pod(const PendingPod& pod, Cluster& cluster, const Profile& profile);
Plan attempt_group(const Group& root, Cluster& cluster, const Profile& profile,
                   const PlacementOptions& options = {});

// The same for what waits in a model: the attempt its scheduler would make, if it had tried nothing
// before. `root` must be runnable.
Plan attempt(ClusterModel& model, const GroupKey& root);
Plan attempt(ClusterModel& model, const api::ObjectPtr& lone_pod);

}  // namespace muster::scheduler
