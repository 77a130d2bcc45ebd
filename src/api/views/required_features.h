#pragma once

#include <string_view>
#include <vector>

#include "api/json.h"

namespace muster::api {

// The features a node must declare (status.declaredFeatures) to run such a pod; sorted.
std::vector<std::string_view> required_features(const Json& spec);

}  // namespace muster::api
