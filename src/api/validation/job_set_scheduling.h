#pragma once

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// What is wrong with how a JobSet asks to be scheduled. `set` is a JobSet, `old` what it replaces;
// null on create.
void validate_job_set_scheduling(const Json& set, const Json* old, const Gates& gates,
                                 FieldErrors& errors);

}  // namespace muster::api
