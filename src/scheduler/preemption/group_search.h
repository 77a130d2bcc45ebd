#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/framework/preemption_plan.h"
#include "scheduler/framework/profile_settings.h"
#include "scheduler/groups/cluster_model.h"

namespace muster::scheduler {

inline constexpr std::string_view kGroupPreemption = "pod group preemption: ";

// Which pods below the priority to evict for a tree, whatever its own priority is.
PreemptionPlan search_victims(ClusterModel& model, const Group& root, std::int32_t priority,
                              const PreemptionArgs& args, Time now);

}  // namespace muster::scheduler
