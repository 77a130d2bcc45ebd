#pragma once

#include "api/json.h"
#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// Fills in the LimitRange defaults of the namespace where containers set nothing themselves, and
// refuses pods and claims beyond their limits.
Result<void> admit_by_limit_ranges(Context& context, const api::Request& request,
                                   api::Json& document);

}  // namespace muster::server
