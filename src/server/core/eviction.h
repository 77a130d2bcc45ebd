#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/context.h"

namespace muster::server {

// POST pods/NAME/eviction: deletes a pod and says why in its DisruptionTarget condition
// (wire.md 2.14). Disruption budgets are not served yet, so none stands in the way.
Result<Decision> decide_eviction(Context& context, const api::Request& request);

}  // namespace muster::server
