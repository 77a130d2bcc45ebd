#pragma once

#include "api/json.h"

namespace muster::server {

// What a pod needs as a whole, where it says a part of it (KEP-2837): a limit that it leaves out is
// that of its containers together, if each of them has one, and at least the pod's request; a
// request that it leaves out is that of its containers together, or else the limit.
void default_pod_level(api::Json& pod);

// Whether a pod says as a whole what it needs of anything.
bool has_pod_level(const api::Json& spec);

}  // namespace muster::server
