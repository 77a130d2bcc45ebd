#pragma once

#include "base/time.h"
#include "explain/tree.h"

namespace muster::explain {

// Makes the attempt that the scheduler would make at the tree now; its root must be runnable. If it
// fails only because groups wait for their preferred topology, that is the answer, and they are
// named; otherwise the attempt without any wait is more informative.
void plan_tree(scheduler::ClusterModel& model, Time now, Tree& tree);

// What the plan says about a group; null if nothing.
const scheduler::GroupVerdict* verdict_of(const scheduler::Plan& plan,
                                          const scheduler::GroupKey& key);

}  // namespace muster::explain
