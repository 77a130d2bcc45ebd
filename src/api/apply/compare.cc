#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/apply/typed.h"
#include "api/apply/value_type.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Message;

// Everything at and below a value that appeared or vanished whole.
FieldSet everything(const Type& type, const Json& value) {
  FieldSet out{.member = true};
  each_part(type, value, Extent::Whole,
            [&](std::string element, const Type& child_type, const Json& child) {
              out.children.insert_or_assign(std::move(element), everything(child_type, child));
            });
  return out;
}

// Nothing but what differs is looked at twice, and only what differs gets a path: most writes
// change a few fields of a large object.

void put(FieldSet& set, std::string element, FieldSet below) {
  if (!below.empty()) set.children.insert_or_assign(std::move(element), std::move(below));
}

Comparison compare_values(const Type& type, const Json& before, const Json& after);

// Adds how one part differs; null where it is missing. `element` makes its path element.
template <typename Element>
void compare_part(Comparison& out, const Type& type, const Json* before, const Json* after,
                  Element&& element) {
  if (before == nullptr && after == nullptr) return;
  if (before == nullptr) {
    put(out.added, element(), everything(type, *after));
  } else if (after == nullptr) {
    put(out.removed, element(), everything(type, *before));
  } else {
    Comparison below = compare_values(type, *before, *after);
    if (below.added.empty() && below.modified.empty() && below.removed.empty()) return;
    put(out.added, element(), std::move(below.added));
    put(out.modified, element(), std::move(below.modified));
    put(out.removed, element(), std::move(below.removed));
  }
}

Comparison compare_members(const Type& type, const JsonObject& before, const JsonObject& after) {
  Comparison out;
  const auto compare_member = [&](std::string_view name) {
    const auto element = [&] { return "f:" + std::string(name); };
    if (type.form == Form::Map) {
      compare_part(out, item_type(type), before.if_contains(name), after.if_contains(name),
                   element);
    } else if (const Field* field = type.message->find(name)) {
      compare_part(out, type_of(*field), member_of(before, *field, Extent::Whole),
                   member_of(after, *field, Extent::Whole), element);
    }
  };
  for (const auto& member : after) compare_member(member.key());
  for (const auto& member : before)
    if (!after.contains(member.key())) compare_member(member.key());
  return out;
}

bool same_keys(const Type& list, const Json& a, const Json& b) {
  return std::ranges::all_of(list.field->list_keys, [&](const std::string& key) {
    const Json* const left = find(a, key);
    const Json* const right = find(b, key);
    return left != nullptr && right != nullptr && *left == *right;
  });
}

Comparison compare_items(const Type& type, const JsonArray& before, const JsonArray& after) {
  Comparison out;
  // The usual case: the same items in the same places.
  if (type.form == Form::Keyed &&
      std::ranges::equal(before, after,
                         [&](const Json& a, const Json& b) { return same_keys(type, a, b); })) {
    for (std::size_t i = 0; i < after.size(); ++i)
      compare_part(out, item_type(type), &before[i], &after[i],
                   [&] { return item_element(type, after[i]); });
    return out;
  }
  std::map<std::string, const Json*> old_items;
  for (const Json& item : before) old_items.emplace(item_element(type, item), &item);
  for (const Json& item : after) {
    const std::string element = item_element(type, item);
    const auto old = old_items.find(element);
    compare_part(out, item_type(type), old == old_items.end() ? nullptr : old->second, &item,
                 [&] { return std::string(element); });
    if (old != old_items.end()) old_items.erase(old);
  }
  for (const auto& [element, item] : old_items)
    compare_part(out, item_type(type), item, nullptr, [&] { return element; });
  return out;
}

bool has_parts(const Json& value) {
  if (const JsonObject* object = value.if_object()) return !object->empty();
  if (const JsonArray* array = value.if_array()) return !array->empty();
  return false;
}

Comparison compare_values(const Type& type, const Json& before, const Json& after) {
  static const Json kNoMembers = JsonObject();
  static const Json kNoItems = JsonArray();
  if (type.form == Form::Leaf || (!has_parts(before) && !has_parts(after))) {
    Comparison out;
    out.modified.member = before != after;
    return out;
  }
  if (is_list(type))
    return compare_items(type, (before.is_array() ? before : kNoItems).get_array(),
                         (after.is_array() ? after : kNoItems).get_array());
  return compare_members(type, (before.is_object() ? before : kNoMembers).get_object(),
                         (after.is_object() ? after : kNoMembers).get_object());
}

}  // namespace

Comparison compare(const Message& message, const Json& before, const Json& after) {
  static const Json kNothing = JsonObject();
  return compare_values(root_type(message), before.is_null() ? kNothing : before,
                        after.is_null() ? kNothing : after);
}

}  // namespace muster::api
