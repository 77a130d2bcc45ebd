#pragma once

#include <memory>

#include "server/core/write/sliced_request.h"

namespace muster::server {

// POST groupbindings: binds the pods of one group tree, nominates others and sets conditions of the
// groups, in one transaction. Invalid names every wrong field. Conflict if anything is not as the
// client believes, with one cause per item; then nothing has changed. Pods that run on the right
// node already count as bound, so the same request may be sent again.
//
// The last slice looks at everything once more, so that all of it holds at one moment. Conflict if
// too many of the objects keep changing meanwhile.
std::unique_ptr<SlicedRequest> make_group_binding(api::Request request, Reply reply);

}  // namespace muster::server
