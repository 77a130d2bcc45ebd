#pragma once

#include "api/object.h"
#include "api/request.h"
#include "base/result.h"
#include "server/core/strategies/document.h"
#include "server/core/write/context.h"

// Who owns which field of an object: metadata.managedFields on every write, and server-side apply.
namespace muster::server {

// Notes in `after` what the request's manager changed against `before` (null for a new object).
// Requests that name no manager (our own components') are not tracked.
void record_write(const Context& context, const api::Request& request, const Json& before,
                  Json& after);

// The document an apply patch makes of `live`, the object as the client's version shows it, or of
// nothing (null). Without kind and apiVersion; its managedFields are up to date.
Result<Json> apply_patch(const Context& context, api::Request& request, Json live);

bool is_apply(const api::Request& request);

}  // namespace muster::server
