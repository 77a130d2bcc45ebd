#include "api/validation/normalize.h"

#include <utility>

#include "api/zero_value.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Repeat;

// Does not say "omitempty", so Go prints null where it is unset.
bool is_null_when_unset(const Field& field) {
  return field.always && (field.optional || field.repeat == Repeat::List);
}

Json zero_of(const Field& field) {
  switch (field.shape) {
    case schema::Shape::Message: return printed_by_go(*field.message, JsonObject());
    case schema::Shape::Int32:
    case schema::Shape::Int64: return 0;
    default: return "";
  }
}

Json normalized_field(const Field& field, const Json& value) {
  if (field.message == nullptr) return value;
  if (field.repeat == Repeat::One) return normalized(*field.message, value);
  if (field.repeat == Repeat::List && value.is_array()) {
    JsonArray items;
    for (const Json& item : value.get_array()) items.push_back(normalized(*field.message, item));
    return items;
  }
  return value;
}

}  // namespace

Json normalized(const schema::Message& message, const Json& value) {
  if (!value.is_object()) return value;
  JsonObject out;
  for (const Field* field : message.members) {
    const Json* member = value.get_object().if_contains(field->name);
    if (member == nullptr || member->is_null()) continue;
    Json kept = normalized_field(*field, *member);
    const bool presence_matters = field->optional && field->repeat == Repeat::One;
    if (presence_matters || !is_zero(kept)) out[field->name] = std::move(kept);
  }
  return out;
}

Json printed_by_go(const schema::Message& message, const Json& value) {
  const Json kept = normalized(message, value);
  JsonObject out;
  for (const Field* field : message.members) {
    const Json* member = find(kept, field->name);
    if (member == nullptr) {
      if (is_null_when_unset(*field))
        out[field->name] = nullptr;
      else if (field->always)
        out[field->name] = zero_of(*field);
    } else if (field->message == nullptr) {
      out[field->name] = *member;
    } else if (field->repeat == Repeat::List) {
      JsonArray items;
      for (const Json& item : member->as_array())
        items.push_back(printed_by_go(*field->message, item));
      out[field->name] = std::move(items);
    } else {
      out[field->name] = printed_by_go(*field->message, *member);
    }
  }
  return out;
}

const Json& part_or_empty(const Json& document, std::string_view member) {
  static const Json kNone = JsonObject();
  const Json* found = find(document, member);
  return found == nullptr || found->is_null() ? kNone : *found;
}

}  // namespace muster::api
