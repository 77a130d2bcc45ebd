#pragma once

#include "scheduler/cache/cluster.h"
#include "scheduler/cycle/why_not.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {

// The same as why_not() of all nodes, from what the last report for the class found out: only rows
// that changed since are asked again. Thousands of equal pods that wait, and are tried one after
// the other, cost one look at all nodes. Kept beside the cluster, for a few classes; where nodes
// refuse a class in very many ways, nothing is kept and all nodes are asked each time.
Histogram why_not_kept(const Standing& standing, Cluster& cluster);

}  // namespace muster::scheduler
