#pragma once

#include <span>

#include "scheduler/framework/plan.h"
#include "scheduler/framework/preemption_plan.h"
#include "scheduler/framework/profile_settings.h"
#include "scheduler/groups/cluster_model.h"

namespace muster::scheduler {

// Which pods to evict so that a refused pod or tree fits. Pure: the model is left unchanged, and
// the same model gives the same plan. Nominations must be counted for the preemptor
// (ClusterModel::count_nominated).
//
// For a lone pod: upstream's choice among nodes, each with the fewest victims that keep the more
// important pods there.
PreemptionPlan preempt_for_pod(ClusterModel& model, const PendingPod& pod,
                               const PreemptionArgs& args, Time now);
// For the waiting pods of a whole tree: as many of them as would find a place without any lower
// pod, where that costs least as far as we search; never more than upstream's way.
PreemptionPlan preempt_for_group(ClusterModel& model, const Group& root, const PreemptionArgs& args,
                                 Time now);

// What the plugins of the tree's profile can do for it, see PodGroupPostFilter. One of them is the
// function above, named DefaultPreemption. If none finds anything, their messages are joined.
PreemptionPlan make_room_for_group(ClusterModel& model, const Group& root, Time now);

// Where a whole tree would fit if pods of its own and lower priority left, at the least cost in the
// same order: room to keep for it. Nobody is evicted. Places are empty if there is none.
Reservation reserve_for_group(ClusterModel& model, const Group& root, const PreemptionArgs& args,
                              Time now);

}  // namespace muster::scheduler
