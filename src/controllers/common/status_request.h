#pragma once

#include <cstdint>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"

namespace muster::controllers {

// Replaces the status. Conflicts if the object has changed since it was read.
api::Request replace_status_request(const api::Object& object, api::JsonObject status);

// How statuses are stored: what is zero is left out.
void put_count(api::JsonObject& status, std::string_view member, std::int64_t count);

}  // namespace muster::controllers
