#pragma once

#include <functional>

#include "api/json.h"
#include "api/request.h"
#include "base/result.h"

namespace muster::server {

// Whether the user of a request may grant what the document, a role or a binding, grants; `old` is
// what is stored, null on create. Asked on the registry's thread.
using RoleGuard = std::function<Result<void>(const api::Request& request, const api::Json& document,
                                             const api::Json* old)>;

}  // namespace muster::server
