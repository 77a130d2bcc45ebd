#pragma once

#include <vector>

#include "explain/explanation.h"
#include "explain/objects.h"

namespace muster::explain {

// Names the taints wherever the explanation says that nodes have untolerated ones:
// "7 node(s) had untolerated taint {gpu: yes}".
void name_taints(const scheduler::ClusterModel& model, const std::vector<api::ObjectPtr>& pods,
                 Explanation& about);

}  // namespace muster::explain
