#include "api/validation/schema_rules.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/reading.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Message;
using schema::Repeat;
using schema::Shape;

bool has_own_rules(const Message& message) {
  return message.name == "ObjectMeta" || message.name == "ListMeta" ||
         message.name == "PodTemplateSpec" || message.name == "LabelSelector";
}

// Numbers and booleans are never missing: zero is a value.
bool can_be_missing(const Field& field) {
  return field.repeat != Repeat::One || field.optional || field.shape == Shape::String ||
         field.shape == Shape::Any;
}

bool is_missing(const Json* value) {
  if (value == nullptr || value->is_null()) return true;
  if (const auto* text = value->if_string()) return text->empty();
  if (const auto* list = value->if_array()) return list->empty();
  return false;
}

void validate_word(const Field& field, const Json& value, const FieldPath& path,
                   FieldErrors& errors) {
  const std::string_view word = text_of(value);
  if (word.empty() || std::ranges::find(field.allowed, word) != field.allowed.end()) return;
  const std::vector<std::string_view> allowed(field.allowed.begin(), field.allowed.end());
  errors.not_supported(path, word, allowed);
}

void validate_value(const Field& field, const Json& value, const FieldPath& path,
                    FieldErrors& errors) {
  if (!field.allowed.empty()) validate_word(field, value, path, errors);
  if (field.message != nullptr) validate_by_schema(*field.message, value, path, errors);
}

void validate_member(const Field& field, const Json& holder, const FieldPath& path,
                     FieldErrors& errors) {
  const Json* value = find_set(holder, field.name);
  if (field.required && can_be_missing(field) && is_missing(value)) {
    errors.required(path);
    return;
  }
  if (value == nullptr) return;
  if (field.repeat == Repeat::One) return validate_value(field, *value, path, errors);
  std::size_t at = 0;
  if (const auto* list = value->if_array())
    for (const Json& item : *list) validate_value(field, item, path.index(at++), errors);
  if (const auto* map = value->if_object())
    for (const auto& entry : *map)
      validate_value(field, entry.value(), path.key(key_of(entry)), errors);
}

}  // namespace

void validate_by_schema(const Message& message, const Json& document, FieldErrors& errors) {
  for (const Field* field : message.members)
    if (field->name != "metadata" && field->name != "status")
      validate_member(*field, document, FieldPath(field->name), errors);
}

void validate_by_schema(const Message& message, const Json& value, const FieldPath& path,
                        FieldErrors& errors) {
  if (!value.is_object() || has_own_rules(message)) return;
  for (const Field* field : message.members)
    validate_member(*field, value, path.child(field->name), errors);
}

}  // namespace muster::api
