#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "scheduler/framework/plan.h"
#include "scheduler/groups/cluster_model.h"

namespace muster::explain {

// An attempt at a whole tree.
struct TreePlan {
  scheduler::Plan plan;
  // Groups that wait for their preferred topology, though the tree would fit without it; the plan
  // is that of the wait.
  std::vector<scheduler::GroupKey> insisting = {};
  // It has no place even without that, but until then nobody is evicted for it.
  std::optional<Time> evicts_from = {};
};

// Makes the attempt that the scheduler would make now at the tree below `root`, which must be
// runnable. If it fails only because groups wait for their preferred topology, that is the answer,
// and they are named; otherwise the attempt without any wait is more informative.
TreePlan plan_tree(scheduler::ClusterModel& model, const scheduler::GroupKey& root, Time now);

// What the plan says about a group; null if nothing.
const scheduler::GroupVerdict* verdict_of(const scheduler::Plan& plan,
                                          const scheduler::GroupKey& key);

}  // namespace muster::explain
