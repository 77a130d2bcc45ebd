#pragma once

#include <string>

#include "api/object.h"
#include "base/time.h"
#include "explain/naming.h"
#include "scheduler/groups/cluster_model.h"

namespace muster::explain {

// What the scheduler would evict for a tree or a lone pod that has no place, and how many must go
// at least; empty if nobody is lower, or it would not help.
std::string evictions_for(scheduler::ClusterModel& model, const scheduler::GroupKey& root, Time now,
                          const Naming& naming);
std::string evictions_for(scheduler::ClusterModel& model, const api::ObjectPtr& pod, Time now,
                          const Naming& naming);

}  // namespace muster::explain
