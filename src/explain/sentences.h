#pragma once

#include <string>
#include <vector>

#include "explain/explanation.h"
#include "explain/tree.h"
#include "scheduler/groups/cluster_model.h"

// The sentences of an explanation.
namespace muster::explain {

// The nearest group above that is not just held by another; the group itself if there is none.
const Level* culprit_above(const scheduler::ClusterModel& model, const Tree& tree,
                           const Level& level);

// "podgroup default/a and 2 others come first and take": who is in the way.
std::string ahead_text(const std::vector<std::string>& ahead);

// What the subject is or does, to follow its name.
std::string predicate(const scheduler::ClusterModel& model, const Tree& tree,
                      const Explanation& about);

// Why the "no" is a "no"; empty if there is nothing to prove.
std::string proof_of(const Tree& tree, const Level& level);

}  // namespace muster::explain
