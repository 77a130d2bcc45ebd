#include "api/apply/typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::api {
namespace {

using schema::Field;
using schema::ListType;
using schema::Message;
using schema::Repeat;
using schema::Shape;

// How a value is taken apart.
enum class Form : std::uint8_t {
  Leaf,    // not at all
  Struct,  // members of a message
  Map,     // entries by key
  Keyed,   // list items by their keys
  Set,     // list items by value
};

struct Type {
  Form form = Form::Leaf;
  const Message* message = nullptr;  // of a Struct, and of the items of Map and Keyed
  const Field* field = nullptr;      // null at the root
};

Type struct_or_leaf(const Field& field) {
  const bool whole = field.shape != Shape::Message || field.message->bare_list() != nullptr;
  return whole ? Type{} : Type{.form = Form::Struct, .message = field.message, .field = &field};
}

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

// Whether a document says only what its author wrote, or stands for a whole object: there, members
// that are written even when empty mean the same absent and empty.
enum class Extent : std::uint8_t { Written, Whole };

const Json* member_of(const JsonObject& object, const Field& field, Extent extent) {
  static const Json kNoMembers = JsonObject();
  const Json* const found = object.if_contains(field.name);
  if (found != nullptr && !found->is_null()) return found;
  if (extent == Extent::Written || !field.always) return nullptr;
  if (field.repeat == Repeat::List || field.optional) return nullptr;  // written as null
  return field.repeat == Repeat::Map || field.shape == Shape::Message ? &kNoMembers : nullptr;
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

std::string item_element(const Type& list, const Json& item) {
  return list.form == Form::Keyed ? keyed_element(list, item) : "v:" + to_text(item);
}

bool is_list(const Type& type) { return type.form == Form::Keyed || type.form == Form::Set; }

// Calls `visit(element, child type, child value)` for each part of a value that can be taken apart.
// An item without its keys has no name, so nobody can own it; validation lets few of them pass.
template <typename Visit>
void each_part(const Type& type, const Json& value, Extent extent, Visit&& visit) {
  switch (type.form) {
    case Form::Leaf: return;
    case Form::Struct:
      if (const JsonObject* object = value.if_object())
        for (const Field* field : type.message->members)
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

bool has_parts(const Json& value) {
  if (const JsonObject* object = value.if_object()) return !object->empty();
  if (const JsonArray* array = value.if_array()) return !array->empty();
  return false;
}

// --- Checks

std::string missing_key(const Type& list, const Json& item) {
  for (const std::string& key : list.field->list_keys) {
    Json default_value;
    if (key_value(item, *list.message, key, default_value) == nullptr) return key;
  }
  return "";
}

std::string printed_element(const std::string& element) {
  return printed_paths({.children = {{element, {.member = true}}}}).front();
}

Result<void> check(const Type& type, const Json& value, const std::string& path);

Result<void> check_items(const Type& list, const Json& value, const std::string& path) {
  if (!value.is_array()) return {};
  std::set<std::string> seen;
  std::size_t index = 0;
  for (const Json& item : value.get_array()) {
    const std::string element = item_element(list, item);
    if (element.empty())
      return fail(Reason::BadRequest,
                  "{}: element {}: associative list with keys has an element that omits key field "
                  "\"{}\" (and doesn't have default value)",
                  path, index, missing_key(list, item));
    if (!seen.insert(element).second)
      return fail(Reason::BadRequest, "{}: duplicate entries for key {}", path,
                  printed_element(element));
    TRY(check(item_type(list), item, path + printed_element(element)));
    ++index;
  }
  return {};
}

Result<void> check(const Type& type, const Json& value, const std::string& path) {
  if (is_list(type)) return check_items(type, value, path);
  Result<void> outcome;
  each_part(type, value, Extent::Written,
            [&](const std::string& element, const Type& child_type, const Json& child) {
              if (outcome && child_type.form != Form::Leaf)
                outcome = check(child_type, child, path + printed_element(element));
            });
  return outcome;
}

// --- Field sets

FieldSet fields(const Type& type, const Json& value) {
  FieldSet out;
  if (type.form == Form::Leaf) {
    out.member = true;
    return out;
  }
  each_part(type, value, Extent::Written,
            [&](std::string element, const Type& child_type, const Json& child) {
              FieldSet below = fields(child_type, child);
              const bool empty_struct = child.is_object() && child.get_object().empty();
              if (is_list(type) || empty_struct) below.member = true;
              if (!below.empty())
                out.children.insert_or_assign(std::move(element), std::move(below));
            });
  return out;
}

// Everything at and below a value that appeared or vanished whole.
FieldSet everything(const Type& type, const Json& value) {
  FieldSet out{.member = true};
  each_part(type, value, Extent::Whole,
            [&](std::string element, const Type& child_type, const Json& child) {
              out.children.insert_or_assign(std::move(element), everything(child_type, child));
            });
  return out;
}

// --- Comparison

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
                 [&] { return element; });
    if (old != old_items.end()) old_items.erase(old);
  }
  for (const auto& [element, item] : old_items)
    compare_part(out, item_type(type), item, nullptr, [&] { return element; });
  return out;
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

// --- Merge

Json merge_values(const Type& type, Json live, const Json& applied);

Json merge_members(const Type& type, Json live, const Json& applied) {
  if (!live.is_object() || !applied.is_object()) return applied;
  JsonObject& out = live.get_object();
  for (const auto& member : applied.get_object()) {
    const std::string_view name = member.key();
    Type child;
    if (type.form == Form::Map) {
      child = item_type(type);
    } else if (const Field* field = type.message->find(name)) {
      child = type_of(*field);
    }
    if (Json* mine = out.if_contains(name); mine != nullptr && !mine->is_null())
      *mine = merge_values(child, std::move(*mine), member.value());
    else
      out.insert_or_assign(name, member.value());
  }
  return live;
}

// Where items of a merged list come: those of `applied` in its order; each item that only `live`
// has as early as the order of `live` lets it, which is behind the items both have that precede it
// there, and before new ones. An item both have that comes too early in `live` holds up nobody.
Json merge_items(const Type& type, Json live, const Json& applied) {
  if (!live.is_array() || !applied.is_array()) return applied;
  JsonArray& mine = live.get_array();
  const JsonArray& said = applied.get_array();
  std::map<std::string, std::size_t> places;  // in `live`
  for (std::size_t i = 0; i < mine.size(); ++i) places.emplace(item_element(type, mine[i]), i);
  std::vector<bool> shared(mine.size());
  std::vector<std::size_t> order;  // of the items both have, by `applied`, as places in `live`
  std::vector<std::optional<std::size_t>> place_of(said.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    const auto place = places.find(item_element(type, said[i]));
    if (place == places.end()) continue;
    place_of[i] = place->second;
    shared[place->second] = true;
    order.push_back(place->second);
  }
  JsonArray out;
  std::size_t at = 0;    // in `live`
  std::size_t next = 0;  // in `order`
  for (std::size_t i = 0; i < said.size(); ++i) {
    for (; at < mine.size(); ++at) {
      if (!shared[at])
        out.push_back(std::move(mine[at]));
      else if (next < order.size() && order[next] == at)
        break;
    }
    if (!place_of[i]) {
      out.push_back(said[i]);
      continue;
    }
    if (*place_of[i] == at) ++at;
    ++next;
    out.push_back(merge_values(item_type(type), std::move(mine[*place_of[i]]), said[i]));
  }
  for (; at < mine.size(); ++at)
    if (!shared[at]) out.push_back(std::move(mine[at]));
  return out;
}

Json merge_values(const Type& type, Json live, const Json& applied) {
  switch (type.form) {
    case Form::Leaf: return applied;
    case Form::Struct:
    case Form::Map: return merge_members(type, std::move(live), applied);
    case Form::Keyed:
    case Form::Set: break;
  }
  return merge_items(type, std::move(live), applied);
}

// --- Pruning

bool prune_part(const std::string& element, const Type& type, Json& value, const FieldSet& last,
                const FieldSet& owned);

void prune_value(const Type& type, Json& value, const FieldSet& last, const FieldSet& owned) {
  if (type.form == Form::Leaf) return;
  if (JsonObject* object = value.if_object()) {
    std::vector<std::string> gone;
    for (auto& member : *object) {
      const Field* field = type.form == Form::Struct ? type.message->find(member.key()) : nullptr;
      if (type.form == Form::Struct && field == nullptr) continue;
      const Type child = field != nullptr ? type_of(*field) : item_type(type);
      if (prune_part("f:" + std::string(member.key()), child, member.value(), last, owned))
        gone.emplace_back(member.key());
    }
    for (const std::string& name : gone) object->erase(name);
  } else if (JsonArray* items = value.if_array()) {
    JsonArray kept;
    for (Json& item : *items)
      if (!prune_part(item_element(type, item), item_type(type), item, last, owned))
        kept.push_back(std::move(item));
    *items = std::move(kept);
  }
}

// Whether the part goes altogether.
bool prune_part(const std::string& element, const Type& type, Json& value, const FieldSet& last,
                const FieldSet& owned) {
  const FieldSet* const last_below = last.below(element);
  if (last_below == nullptr) return false;
  const FieldSet* const owned_below = owned.below(element);
  if (owned_below == nullptr) return true;
  prune_value(type, value, *last_below, *owned_below);
  return false;
}

Type root(const Message& message) {
  return {.form = Form::Struct, .message = &message, .field = nullptr};
}

}  // namespace

Result<void> check_lists(const Message& message, const Json& document) {
  return check(root(message), document, "");
}

FieldSet fields_of(const Message& message, const Json& document) {
  return fields(root(message), document);
}

Comparison compare(const Message& message, const Json& before, const Json& after) {
  static const Json kNothing = JsonObject();
  return compare_values(root(message), before.is_null() ? kNothing : before,
                        after.is_null() ? kNothing : after);
}

Json merged(const Message& message, Json live, const Json& applied) {
  return merge_values(root(message), std::move(live), applied);
}

void prune(const Message& message, Json& document, const FieldSet& last, const FieldSet& owned) {
  prune_value(root(message), document, last, owned);
}

}  // namespace muster::api
