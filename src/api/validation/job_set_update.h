#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// What of a JobSet has changed and may not: its Jobs (but for their sizes, and while it rests for
// where their pods go), its policies, its network, its manager.
void validate_job_set_update(const Json& now, const Json& old, FieldErrors& errors);

}  // namespace muster::api
