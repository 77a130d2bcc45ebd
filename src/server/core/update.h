#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/context.h"

namespace muster::server {

// PUT: the request's document replaces what is stored; on /status and other subresources only their
// part of it. Takes the document out of the request.
Result<Decision> decide_update(Context& context, api::Request& request);

// PATCH: the patch is applied to the newest state, the result goes the way of an update.
Result<Decision> decide_patch(Context& context, api::Request& request);

}  // namespace muster::server
