#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// The document's namespace must be the URL's, or missing; cluster-scoped objects have none.
Result<void> set_namespace(const api::Request& request, api::Json& document);

// A new object from the request's document: defaults, admission, name, uid, strategy,
// validation, in the order that gives errors their precedence. Moves the document out of the
// request.
Result<Decision> decide_create(Context& context, api::Request& request);

}  // namespace muster::server
