#pragma once

#include <string>

#include "api/json.h"

namespace muster::api {

// The value as YAML that kubectl and parse_yaml() read back as the same value: one line per member,
// two spaces a level, text quoted where it could be taken for something else. Ends with a newline.
std::string to_yaml(const Json& value);

}  // namespace muster::api
