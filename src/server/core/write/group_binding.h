#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// POST groupbindings: binds the pods of one group tree, nominates others and sets conditions of the
// groups, in one transaction. Invalid names every wrong field. Conflict if anything is not as the
// client believes, with one cause per culprit; nothing has changed then. Pods that run on the right
// node already count as bound, so the same request may be sent again. Takes the document out of the
// request.
Result<Decision> decide_group_binding(Context& context, api::Request& request);

}  // namespace muster::server
