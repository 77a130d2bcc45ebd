#pragma once

#include <vector>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"

namespace muster::scheduler {

// Upstream's rules of toleration. The operators Lt and Gt (an alpha gate upstream) tolerate
// nothing.
bool tolerates(const api::Toleration& toleration, const api::Taint& taint);
bool tolerates(const std::vector<api::Toleration>& tolerations, const api::Taint& taint);

// Whether some taint that keeps pods off (NoSchedule, NoExecute) is tolerated by none.
bool repels(const std::vector<api::Taint>& taints, const std::vector<api::Toleration>& tolerations);

}  // namespace muster::scheduler
