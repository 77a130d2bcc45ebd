#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/context.h"

namespace muster::server {

// POST pods/NAME/binding: assigns a pod to a node, in one write (wire.md 2.14). Conflict if the pod
// is bound, gated or on its way out. Whether the node exists is not asked, as upstream does not.
Result<Decision> decide_binding(Context& context, const api::Request& request);

}  // namespace muster::server
