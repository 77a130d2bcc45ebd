#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

// Writes through the scale subresource (request/scale_view.h).
namespace muster::server {

// PUT and PATCH: only the number of replicas changes.
Result<Decision> decide_scale_update(Context& context, api::Request& request);
Result<Decision> decide_scale_patch(Context& context, api::Request& request);

}  // namespace muster::server
