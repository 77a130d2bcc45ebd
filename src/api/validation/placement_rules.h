#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

// The rules for everything in a pod or node that says where pods may run.
namespace muster::api {

// A metav1.LabelSelector; a missing one is fine.
void validate_label_selector(const Json* selector, const FieldPath& path, FieldErrors& errors);
// A required node selector, as in node affinity.
void validate_node_selector(const Json& selector, const FieldPath& path, FieldErrors& errors);
void validate_affinity(const Json& affinity, const FieldPath& path, FieldErrors& errors);
void validate_tolerations(const JsonArray& tolerations, const FieldPath& path, FieldErrors& errors);
void validate_topology_spread(const JsonArray& constraints, const FieldPath& path,
                              FieldErrors& errors);
void validate_taints(const JsonArray& taints, const FieldPath& path, FieldErrors& errors);

}  // namespace muster::api
