#pragma once

#include <string>

#include "api/json.h"
#include "api/schema/schema.h"

namespace muster::api {

// canonical_text() without metadata.resourceVersion and metadata.selfLink: what an Object holds.
std::string stored_text(const schema::Message& message, const Json& document);

}  // namespace muster::api
