#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// What a claim asks for, wherever it occurs: "spec" of a PersistentVolumeClaim, or a template of a
// StatefulSet.
void validate_claim_spec(const Json& spec, const FieldPath& path, FieldErrors& errors);

}  // namespace muster::api
