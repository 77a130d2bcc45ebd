#pragma once

#include <cstdint>
#include <string_view>

#include "api/object.h"
#include "api/request.h"
#include "api/schema/schema.h"

// The scale subresource: how many replicas, of any kind that has them, as an autoscaling/v1 Scale.
namespace muster::server {

inline constexpr std::string_view kScale = "scale";

const api::schema::Message& scale_message();
// `holder` is the spec or status of an object or of a Scale. 0 if it does not say.
std::int64_t replicas_of(const api::Json& holder);
api::Json scale_document(const api::Object& object, api::Revision revision);
api::DocumentAnswer scale_of(const api::Object& object, api::Revision revision);

}  // namespace muster::server
