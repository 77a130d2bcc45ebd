#pragma once

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

FieldErrors validate_pod_group(const Json& document, const Gates& gates);
FieldErrors validate_pod_group_update(const Json& now, const Json& old, const Gates& gates);
// `now` has the stored spec.
FieldErrors validate_pod_group_status_update(const Json& now, const Json& old);

}  // namespace muster::api
