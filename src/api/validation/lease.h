#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

FieldErrors validate_lease(const Json& document);
FieldErrors validate_lease_update(const Json& now, const Json& old);

}  // namespace muster::api
