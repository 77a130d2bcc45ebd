#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// Defaults that depend on other members: how images are pulled, requests from limits, host ports,
// the old name of serviceAccountName. What the server writes (status, QoS class) is not among them.
void default_pod(Json& document);
// The part of it that also holds for the pod spec of a template.
void default_pod_spec(JsonObject& spec);

FieldErrors validate_pod(const Json& document);
FieldErrors validate_pod_update(const Json& now, const Json& old);
FieldErrors validate_pod_status_update(const Json& now, const Json& old);
// The body of pods/binding.
FieldErrors validate_binding(const Json& document);

// The rules for every pod, new or changed; the others include them.
void validate_pod_metadata_and_spec(const Json& document, FieldErrors& errors);
// A pod spec wherever it occurs: "spec" of a pod, "spec.template.spec" of a Job.
void validate_pod_spec(const Json& spec, const FieldPath& path, FieldErrors& errors);

}  // namespace muster::api
