#pragma once

#include <string_view>

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/context.h"

// The scale subresource: how many replicas, of any kind that has them, as an autoscaling/v1 Scale.
namespace muster::server {

inline constexpr std::string_view kScale = "scale";

api::DocumentAnswer scale_of(const api::Object& object, api::Revision revision);

// PUT and PATCH: only the number of replicas is taken.
Result<Decision> decide_scale_update(Context& context, api::Request& request);
Result<Decision> decide_scale_patch(Context& context, api::Request& request);

}  // namespace muster::server
