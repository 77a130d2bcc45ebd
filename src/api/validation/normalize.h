#pragma once

#include <string_view>

#include "api/json.h"
#include "api/schema/schema.h"

namespace muster::api {

// A copy without nulls, and without zeros that the schema does not distinguish from missing
// members. Two documents mean the same exactly if their normalized forms are equal.
Json normalized(const schema::Message& message, const Json& value);

// The value with members as Go prints them in a message: in order, zeros only where they are always
// written.
Json printed_by_go(const schema::Message& message, const Json& value);

// "spec", "status" or "metadata" of a document; an empty object if it has none.
const Json& part_or_empty(const Json& document, std::string_view member);

}  // namespace muster::api
