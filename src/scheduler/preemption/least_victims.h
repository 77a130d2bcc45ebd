#pragma once

#include <cstdint>

#include "scheduler/placement/bounds.h"
#include "scheduler/preemption/unit_table.h"

namespace muster::scheduler {

// How many pods must go at least, whatever is chosen, before the tree can be placed: `all` of its
// waiting pods or its minimum. A number anybody can check against the cluster. The draft has no
// victims removed.
std::int64_t least_victims(const GroupTree& tree, Workspace& workspace, const UnitTable& table,
                           bool all);

}  // namespace muster::scheduler
