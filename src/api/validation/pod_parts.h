#pragma once

#include <string_view>

#include "api/json.h"
#include "api/validation/field_errors.h"

// The parts of a pod that change through endpoints of their own after it was created.
namespace muster::api {

// pods/resize: cpu and memory of containers, and of init containers that run on beside them
// (restartPolicy Always). Amounts may change but not be added or removed, and the QoS class may not
// change; `qos_class` is the one that `now` would have.
FieldErrors validate_pod_resize(const Json& now, const Json& old, std::string_view qos_class);

// pods/ephemeralcontainers: they may be added, never changed or removed.
FieldErrors validate_ephemeral_containers_update(const Json& now, const Json& old);

}  // namespace muster::api
