#pragma once

#include <vector>

#include "api/views/node_view.h"
#include "api/views/pod_needs.h"

namespace muster::api {

// One entry of spec.tolerations.
Toleration read_toleration(const Json& entry);

// Upstream's rules of toleration. The operators Lt and Gt (an alpha gate upstream) tolerate
// nothing.
bool tolerates(const Toleration& toleration, const Taint& taint);
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

// Whether some taint that keeps pods off (NoSchedule, NoExecute) is not tolerated.
bool repels(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations);

}  // namespace muster::api
