#pragma once

#include <string>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

FieldErrors validate_composite_pod_group(const Json& document, const Gates& gates);
FieldErrors validate_composite_pod_group_update(const Json& now, const Json& old,
                                                const Gates& gates);
FieldErrors validate_composite_pod_group_status_update(const Json& now, const Json& old);

// What is allowed but will not do what the user hopes.
std::vector<std::string> composite_pod_group_warnings(const Json& document);

}  // namespace muster::api
