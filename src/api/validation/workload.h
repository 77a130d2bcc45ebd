#pragma once

#include <string>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

FieldErrors validate_workload(const Json& document, const Gates& gates);
FieldErrors validate_workload_update(const Json& now, const Json& old, const Gates& gates);

// Warns of a template without a disruption mode under one that is disrupted as a whole.
std::vector<std::string> workload_warnings(const Json& document);

}  // namespace muster::api
