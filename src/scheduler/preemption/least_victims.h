#pragma once

#include <cstdint>

#include "scheduler/placement/bounds.h"
#include "scheduler/preemption/unit_table.h"

namespace muster::scheduler {

// How many pods must go at least before the tree can be placed, `all` of its waiting pods or its
// minimum, whatever is chosen: a number anybody can check against the cluster. The draft is as it
// is without victims.
std::int64_t least_victims(const GroupTree& tree, Workspace& workspace, const UnitTable& table,
                           bool all);

}  // namespace muster::scheduler
