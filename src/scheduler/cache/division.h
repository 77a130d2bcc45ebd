#pragma once

#include "scheduler/cache/column.h"
#include "scheduler/cache/ids.h"

namespace muster::scheduler {

// One way to divide the nodes into cells. Never changes once it is shared: when nodes come, go or
// change their labels, a new one is made.
struct Division {
  std::size_t cell_count = 0;
  Column<CellId> cell_of;
};

}  // namespace muster::scheduler
