#pragma once

#include <optional>

#include "api/gates/gates.h"
#include "scheduler/queue/workload_forest.h"

namespace muster::scheduler {

// What the forest needs to know of a PodGroup or CompositePodGroup object, without what belongs to
// gates that are off; nullopt for any other kind, and for kinds whose gate is off.
std::optional<GroupSpec> read_group(const api::ObjectPtr& object, const api::Gates& gates);

}  // namespace muster::scheduler
