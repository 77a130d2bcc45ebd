#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// A list of metav1.Condition: types unique, every member in its format.
void validate_conditions(const JsonArray& conditions, const FieldPath& path, FieldErrors& errors);

struct ConditionRules {
  bool stamped = true;  // lastTransitionTime is required; otherwise the server sets it
};
void validate_condition(const Json& condition, const FieldPath& path, ConditionRules rules,
                        FieldErrors& errors);

}  // namespace muster::api
