#pragma once

#include <vector>

#include "explain/explanation.h"
#include "explain/objects.h"

namespace muster::explain {

// How every node judges these waiting pods, once per kind of pod; the kinds with the most pods
// first, a handful of them. A group that already runs somewhere must stay in that domain: only its
// nodes are asked.
std::vector<NodeReasons> ask_nodes(scheduler::ClusterModel& model,
                                   const std::vector<api::ObjectPtr>& pods);

}  // namespace muster::explain
