#pragma once

#include <string>

#include "api/json.h"
#include "api/tables/table.h"

namespace muster::api {

// The Table of an autoscaling/v1 Scale, which is not a stored object: `kubectl get
// --subresource=scale`.
void append_scale_table(const Json& scale, const TableOptions& options, std::string& out);

}  // namespace muster::api
