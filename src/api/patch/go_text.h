#pragma once

#include <string>

#include "api/json.h"

namespace muster::api {

// A value as fmt.Sprint prints it in Go: map[a:1 b:[x y]]. Cut where it gets too long for a
// message.
std::string go_text(const Json& value);

}  // namespace muster::api
