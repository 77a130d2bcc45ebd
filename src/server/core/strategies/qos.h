#pragma once

#include <string_view>

#include "api/json.h"

namespace muster::server {

// Guaranteed, Burstable or BestEffort, from the resources of a pod's containers.
std::string_view pod_qos_class(const api::Json& pod);

}  // namespace muster::server
