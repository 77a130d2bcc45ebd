#pragma once

#include <string_view>

#include "api/json.h"
#include "base/result.h"

namespace muster::api {

// What an unquoted YAML 1.1 scalar means: null, a boolean, a number, or text. BadRequest for what
// JSON cannot express: infinities and .nan.
Result<Json> resolve_plain_scalar(std::string_view text);

}  // namespace muster::api
