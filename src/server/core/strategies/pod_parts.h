#pragma once

#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/error.h"

// The subresources of a pod that take a whole pod but change one part of it: resize and
// ephemeralcontainers.
namespace muster::server {

// Makes `pod` what is stored, except for the part that the endpoint is about.
void drop_other_changes(api::Json& pod, const api::Json& old, std::string_view subresource);

std::vector<Cause> validate_pod_part(const api::Json& pod, const api::Json& old,
                                     std::string_view subresource);

}  // namespace muster::server
