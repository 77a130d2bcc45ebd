#pragma once

#include <string_view>
#include <vector>

#include "api/json.h"

namespace muster::api {

// The fields of a pod's spec that restrict where it may run and that no plugin of ours judges yet,
// by path, each once, in a fixed order. A pod that uses one is not bound: ignoring what a user
// asked for is worse than not scheduling. Whoever adds the plugin removes the field from the list
// in unjudged_fields.cc.
std::vector<std::string_view> unjudged_fields(const Json& spec);

}  // namespace muster::api
