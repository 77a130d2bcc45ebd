#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "api/json.h"
#include "api/schema/schema.h"

// How server-side apply takes values apart, by the schema tables; for the files of this room.
namespace muster::api {

enum class Form : std::uint8_t {
  Leaf,    // not at all
  Struct,  // members of a message
  Map,     // entries by key
  Keyed,   // list items by their keys
  Set,     // list items by value
};

struct Type {
  Form form = Form::Leaf;
  const schema::Message* message = nullptr;  // of a Struct, and of the items of Map and Keyed
  const schema::Field* field = nullptr;      // null at the root
};

inline Type root_type(const schema::Message& message) {
  return {.form = Form::Struct, .message = &message, .field = nullptr};
}
Type type_of(const schema::Field& field);
Type item_type(const Type& list);
inline bool is_list(const Type& type) { return type.form == Form::Keyed || type.form == Form::Set; }

// Whether a document holds only what its author wrote, or is a whole object: there, for members
// that are always written, absent and empty mean the same.
enum class Extent : std::uint8_t { Written, Whole };

const Json* member_of(const JsonObject& object, const schema::Field& field, Extent extent);

// The first key that an item of a keyed list lacks; empty if it has all.
std::string missing_key(const Type& list, const Json& item);
// The path element of a list item: `k:{"name":"c"}` or `v:"x"`; empty if a key is missing.
std::string item_element(const Type& list, const Json& item);

// Calls `visit(element, child type, child value)` for each part of a value that can be taken apart.
// An item without its keys has no name, so nobody can own it; validation lets few of them pass.
template <typename Visit>
void each_part(const Type& type, const Json& value, Extent extent, Visit&& visit) {
  switch (type.form) {
    case Form::Leaf: return;
    case Form::Struct:
      if (const JsonObject* object = value.if_object())
        for (const schema::Field* field : type.message->members)
          if (const Json* child = member_of(*object, *field, extent))
            visit("f:" + field->name, type_of(*field), *child);
      return;
    case Form::Map:
      if (const JsonObject* object = value.if_object())
        for (const auto& entry : *object)
          visit("f:" + std::string(entry.key()), item_type(type), entry.value());
      return;
    case Form::Keyed:
    case Form::Set:
      if (const JsonArray* items = value.if_array())
        for (const Json& item : *items)
          if (std::string element = item_element(type, item); !element.empty())
            visit(std::move(element), item_type(type), item);
      return;
  }
}

}  // namespace muster::api
