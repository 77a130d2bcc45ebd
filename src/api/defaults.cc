#include <algorithm>
#include <string_view>
#include <utility>

#include "api/decode.h"
#include "api/zero_value.h"
#include "base/check.h"

// Defaults as the tables state them.
namespace muster::api {
namespace {

using schema::Field;
using schema::Message;
using schema::Repeat;

// Defaults are plain words in all but a few tables, so they seldom need the parser.
Json default_value(const Field& field) {
  const std::string_view text = field.default_text;
  if (text.front() == '"' && text.find('\\') == std::string_view::npos)
    return Json(boost::json::string(text.substr(1, text.size() - 2)));
  if (text == "true") return true;
  if (text == "false") return false;
  if (text == "{}") return JsonObject();
  Result<ParsedJson> parsed = parse_json(text);
  CHECK_THAT(parsed.has_value(), "the default of {} is no JSON: {}", field.name, text);
  return std::move(parsed->value);
}

void default_object(const Message& message, JsonObject& object);

void default_below(const Field& field, Json& value) {
  if (field.message == nullptr || !field.message->defaults_within) return;
  if (field.repeat == Repeat::One) {
    if (value.is_object()) default_object(*field.message, value.get_object());
  } else if (field.repeat == Repeat::List) {
    if (!value.is_array()) return;
    for (Json& item : value.get_array())
      if (item.is_object()) default_object(*field.message, item.get_object());
  } else if (value.is_object()) {
    for (auto& member : value.get_object())
      if (member.value().is_object()) default_object(*field.message, member.value().get_object());
  }
}

void default_object(const Message& message, JsonObject& object) {
  for (const Field* field : message.members) {
    if (field->default_text.empty() &&
        (field->message == nullptr || !field->message->defaults_within))
      continue;
    Json* value = object.if_contains(field->name);
    const bool missing =
        value == nullptr || (field->optional ? value->is_null() : is_zero_scalar(*value));
    if (missing && !field->default_text.empty()) {
      value = &(object[field->name] = default_value(*field));
    } else if (missing && field->always && !field->optional && field->repeat == Repeat::One) {
      // In Go this message is part of its parent, so it exists and its own defaults apply.
      JsonObject made;
      default_object(*field->message, made);
      if (!made.empty()) object[field->name] = std::move(made);
      continue;
    }
    if (value != nullptr) default_below(*field, *value);
  }
}

}  // namespace

void apply_defaults(const Message& message, Json& document) {
  if (document.is_object()) default_object(message, document.get_object());
}

}  // namespace muster::api
