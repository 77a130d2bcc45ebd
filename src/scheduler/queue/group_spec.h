#pragma once

#include <optional>

#include "scheduler/queue/workload_forest.h"

namespace muster::scheduler {

// What the forest needs to know of a PodGroup or CompositePodGroup object; nullopt for any other
// kind.
std::optional<GroupSpec> read_group(const api::ObjectPtr& object);

}  // namespace muster::scheduler
