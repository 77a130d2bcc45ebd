#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/budget.h"
#include "base/result.h"

namespace muster::api {

// A document while it is being edited: decoded, defaulted, patched, validated. What is stored and
// shared is an Object (object.h).
using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

struct ParsedJson {
  Json value;
  // Paths of keys that occur twice in one object ("spec.containers[0].name"); the last one wins, as
  // in Go.
  std::vector<std::string> duplicates;
  std::size_t duplicates_left_out = 0;  // beyond the first hundred
};

// Reads JSON text. Integers are exact up to 64 bits; nesting and the number of values are limited;
// the error is a BadRequest whose message says what is wrong in words a user of kubectl knows, or
// RequestEntityTooLarge.
Result<ParsedJson> parse_json(std::string_view text, const Limits& limits = kLimits);

// Appends JSON text: integers as integers, doubles so that they read back the same, members in
// their order, no white space.
void write_json(const Json& value, std::string& out);
std::string to_text(const Json& value);
// The beginning of that text, a little more than `bytes_max` if there is more; the time it takes
// depends only on that length.
std::string beginning_of_text(const Json& value, std::size_t bytes_max);
// Appends a quoted, escaped JSON string.
void write_string(std::string_view text, std::string& out);

// Reads that never throw: null where a member is missing or of another type.
const Json* find(const Json& value, std::string_view member);
const JsonObject* find_object(const Json& value, std::string_view member);
const JsonArray* find_array(const Json& value, std::string_view member);
std::string_view find_string(const Json& value, std::string_view member);  // "" if absent
// The value at a dotted path such as "spec.template.metadata"; null if any part is missing.
const Json* find_path(const Json& value, std::string_view dotted_path);
// The object at `member`, made if missing or of another type.
JsonObject& ensure_object(JsonObject& parent, std::string_view member);
JsonArray& ensure_array(JsonObject& parent, std::string_view member);

}  // namespace muster::api
