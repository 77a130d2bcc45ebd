#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/apply/typed.h"
#include "api/apply/value_type.h"
#include "api/json_edit.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Message;

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
  JsonArray out(live.storage());
  out.reserve(mine.size() + said.size());
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

bool prune_part(const std::string& element, const Type& type, Json& value, const FieldSet& last,
                const FieldSet& owned);

void prune_value(const Type& type, Json& value, const FieldSet& last, const FieldSet& owned) {
  if (type.form == Form::Leaf) return;
  if (JsonObject* object = value.if_object()) {
    erase_members(*object, [&](auto& member) {
      const Field* field = type.form == Form::Struct ? type.message->find(member.key()) : nullptr;
      if (type.form == Form::Struct && field == nullptr) return false;
      const Type child = field != nullptr ? type_of(*field) : item_type(type);
      return prune_part("f:" + std::string(member.key()), child, member.value(), last, owned);
    });
  } else if (JsonArray* items = value.if_array()) {
    erase_items(*items, [&](Json& item) {
      return prune_part(item_element(type, item), item_type(type), item, last, owned);
    });
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

}  // namespace

Json merged(const Message& message, Json live, const Json& applied) {
  return merge_values(root_type(message), std::move(live), applied);
}

void prune(const Message& message, Json& document, const FieldSet& last, const FieldSet& owned) {
  prune_value(root_type(message), document, last, owned);
}

}  // namespace muster::api
