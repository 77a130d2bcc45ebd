#pragma once

#include <string>

#include "api/json.h"

namespace muster::api::openapi {

// A swagger 2.0 document as gnostic's openapi.v2.Document. Writes the members that
// OpenApi::v2_json() has; what gnostic does not need to know (enum, for example) is left out.
std::string to_gnostic(const Json& swagger);

}  // namespace muster::api::openapi
