#pragma once

#include <map>
#include <string_view>

#include "api/json.h"
#include "api/validation/field_errors.h"
#include "api/validation/resources.h"

// The rules for what runs inside a pod and what it can see: containers and volumes.
namespace muster::api {

// What the containers of a pod may refer to; views into its spec.
struct PodScope {
  std::map<std::string_view, const Json*> volumes;
  ClaimNames claim_names;
};

// Judges volumes and resource claims, and collects their names.
PodScope validate_volumes_and_claims(const Json& spec, const FieldPath& path, FieldErrors& errors);
// Regular, init and ephemeral containers of `spec`, which is at `path`.
void validate_containers(const Json& spec, const PodScope& scope, const FieldPath& path,
                         FieldErrors& errors);

}  // namespace muster::api
