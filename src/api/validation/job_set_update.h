#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// Which immutable parts of a JobSet have changed: its Jobs (except their sizes, and while it is
// suspended where their pods go), its policies, its network, its manager.
void validate_job_set_update(const Json& now, const Json& old, FieldErrors& errors);

}  // namespace muster::api
