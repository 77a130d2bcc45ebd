#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

FieldErrors validate_priority_class(const Json& document);
FieldErrors validate_priority_class_update(const Json& now, const Json& old);

}  // namespace muster::api
