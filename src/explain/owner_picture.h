#pragma once

#include <vector>

#include "base/time.h"
#include "explain/explanation.h"
#include "explain/subject.h"
#include "scheduler/groups/cluster_model.h"

// All trees of groups that were made for one object, as one picture.
namespace muster::explain {

struct OwnerTrees {
  std::vector<scheduler::GroupKey> roots;  // in the order of root_groups()
  // The first that waits; the first of all if none does. It is the one to explain.
  scheduler::GroupKey first;
  OwnerLine line;
};
// `groups` are those of root_groups(); they may be parts of somebody else's trees.
OwnerTrees owner_trees(const scheduler::ClusterModel& model, const WorkloadOwner& owner,
                       const std::vector<scheduler::GroupKey>& groups);

// Adds the other trees to the explanation of the first: those that wait before those that run, as
// many as fit on a screen. `about` becomes an explanation of the object.
void add_picture(scheduler::ClusterModel& model, const WorkloadOwner& owner, OwnerTrees trees,
                 Time now, Explanation& about);

}  // namespace muster::explain
