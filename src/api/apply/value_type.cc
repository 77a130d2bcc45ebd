#include "api/apply/value_type.h"

#include <vector>

namespace muster::api {
namespace {

using schema::Field;
using schema::ListType;
using schema::Message;
using schema::Repeat;
using schema::Shape;

Type struct_or_leaf(const Field& field) {
  const bool whole = field.shape != Shape::Message || field.message->bare_list() != nullptr;
  return whole ? Type{} : Type{.form = Form::Struct, .message = field.message, .field = &field};
}

const Json* key_value(const Json& item, const Message& message, std::string_view key,
                      Json& default_value) {
  if (const Json* const found = find(item, key); found != nullptr && !found->is_null())
    return found;
  const Field* const field = message.find(key);
  if (field == nullptr || field->default_text.empty()) return nullptr;
  auto parsed = parse_json(field->default_text);
  if (!parsed) return nullptr;
  default_value = std::move(parsed->value);
  return &default_value;
}

// `k:{"name":"c"}`; empty if a key is missing.
std::string keyed_element(const Type& list, const Json& item) {
  std::vector<std::string> keys = list.field->list_keys;
  std::ranges::sort(keys);
  std::string out = "k:{";
  for (const std::string& key : keys) {
    Json default_value;
    const Json* const value = key_value(item, *list.message, key, default_value);
    if (value == nullptr) return "";
    if (out.size() > 3) out += ',';
    write_string(key, out);
    out += ':';
    write_json(*value, out);
  }
  return out + "}";
}

}  // namespace

Type type_of(const Field& field) {
  if (field.atomic_map) return {};
  switch (field.repeat) {
    case Repeat::One: return struct_or_leaf(field);
    case Repeat::Map: return {.form = Form::Map, .message = field.message, .field = &field};
    case Repeat::List: break;
  }
  switch (field.list_type) {
    case ListType::Atomic: return {};
    case ListType::Set: return {.form = Form::Set, .message = nullptr, .field = &field};
    case ListType::Map: return {.form = Form::Keyed, .message = field.message, .field = &field};
  }
  return {};
}

Type item_type(const Type& list) {
  return list.form == Form::Set ? Type{} : struct_or_leaf(*list.field);
}

const Json* member_of(const JsonObject& object, const Field& field, Extent extent) {
  static const Json kNoMembers = JsonObject();
  const Json* const found = object.if_contains(field.name);
  if (found != nullptr && !found->is_null()) return found;
  if (extent == Extent::Written || !field.always) return nullptr;
  if (field.repeat == Repeat::List || field.optional) return nullptr;  // written as null
  return field.repeat == Repeat::Map || field.shape == Shape::Message ? &kNoMembers : nullptr;
}

std::string missing_key(const Type& list, const Json& item) {
  for (const std::string& key : list.field->list_keys) {
    Json default_value;
    if (key_value(item, *list.message, key, default_value) == nullptr) return key;
  }
  return "";
}

std::string item_element(const Type& list, const Json& item) {
  return list.form == Form::Keyed ? keyed_element(list, item) : "v:" + to_text(item);
}

}  // namespace muster::api
