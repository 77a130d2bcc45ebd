#pragma once

#include "api/object.h"
#include "base/result.h"
#include "server/core/write/context.h"

// Rules that look at other objects: namespaces, priority classes, limit ranges, service accounts.
// Called in upstream's order, on documents that are decoded and defaulted but not yet validated.
namespace muster::server {

// Refuses what must not be created, and fills in what other objects decide: a pod's priority,
// token volume and default tolerations, the taint of a node that is not ready yet.
Result<void> admit_create(Context& context, const api::Request& request, api::Json& document);

Result<void> admit_update(Context& context, const api::Request& request, api::Json& document,
                          const api::Json& old);

// Refuses to delete what the system cannot do without.
Result<void> admit_delete(const api::Object& object);

// After validation, on create and update: only one PriorityClass may be the default.
Result<void> admit_valid(Context& context, const api::Request& request, const api::Json& document);

}  // namespace muster::server
