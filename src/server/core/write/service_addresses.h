#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/core/strategies/document.h"
#include "server/core/write/context.h"

namespace muster::server {

// Gives a Service the cluster address and node ports it lacks: those it had before, otherwise the
// lowest that are free. `old` is what it replaces, null on create. Invalid if it asks for an
// address that another service has.
Result<void> assign_service_addresses(Context& context, const api::Request& request, Json& service,
                                      const Json* old);

}  // namespace muster::server
