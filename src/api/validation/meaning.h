#pragma once

#include <string_view>

#include "api/json.h"
#include "api/schema/schema.h"

namespace muster::api {

// A copy without the members that say nothing: nulls, and zeros that the schema does not tell from
// missing ones. Two documents mean the same exactly if what is left of them is equal.
Json meaning_of(const schema::Message& message, const Json& value);

// The value with members as Go prints them in a message: in order, zeros only where they are always
// written.
Json printed_by_go(const schema::Message& message, const Json& value);

// "spec", "status" or "metadata" of a document; an empty object if it has none.
const Json& part_or_empty(const Json& document, std::string_view member);

}  // namespace muster::api
