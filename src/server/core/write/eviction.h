#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// POST pods/NAME/eviction: deletes a pod and says why in its DisruptionTarget condition
// if its disruption budget allows. A dry run may be asked for in the body, and is
// then noted in the request.
Result<Decision> decide_eviction(Context& context, api::Request& request);

}  // namespace muster::server
