#pragma once

#include <cstdint>

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// Events are stored in the core form; their rules depend on the group they came
// through.
enum class EventGroup : std::uint8_t { Core, Events };

FieldErrors validate_event(const Json& document, EventGroup through);
FieldErrors validate_event_update(const Json& now, const Json& old, EventGroup through);

}  // namespace muster::api
