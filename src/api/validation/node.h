#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

FieldErrors validate_node(const Json& document);
// Serves nodes and nodes/status alike, as upstream.
FieldErrors validate_node_update(const Json& now, const Json& old);

}  // namespace muster::api
