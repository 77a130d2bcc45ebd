#pragma once

#include <string>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

FieldErrors validate_workload(const Json& document, const Gates& gates);
FieldErrors validate_workload_update(const Json& now, const Json& old, const Gates& gates);

// A template that says nothing of disruption under one that is disrupted as a whole.
std::vector<std::string> workload_warnings(const Json& document);

}  // namespace muster::api
