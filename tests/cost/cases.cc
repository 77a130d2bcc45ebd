#include "cost/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "api/base64.h"
#include "api/sample.h"
#include "base/entropy.h"

namespace muster::cost {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::schema::Field;
using api::schema::Message;
using api::schema::Repeat;
using api::schema::Shape;

std::string key(std::size_t i) { return fmt::format("k{:06}", i); }

// Only the members that must be there.
JsonObject smallest(const Message& message) {
  SeededEntropy entropy(1);
  const Json made = api::schema::sample(
      message, entropy, {.depth_max = 3, .nodes_max = 200, .presence_percent = 0, .items_max = 1});
  return made.is_object() ? made.get_object() : JsonObject();
}

Json scalar(const Field& field, std::size_t i, const std::string& name) {
  switch (field.shape) {
    case Shape::Bool: return i % 2 == 0;
    case Shape::Int32:
    case Shape::Int64:
    case Shape::IntOrString: return static_cast<std::int64_t>(i);
    case Shape::Double: return static_cast<double>(i);
    case Shape::Bytes: return Json(boost::json::string(api::base64_encode(name)));
    case Shape::Quantity: return Json(boost::json::string(std::to_string(i)));
    case Shape::Time: return "2026-01-01T00:00:00Z";
    case Shape::MicroTime: return "2026-01-01T00:00:00.000000Z";
    case Shape::Duration: return "1s";
    case Shape::Any: return JsonObject{{name, static_cast<std::int64_t>(i)}};
    default: break;
  }
  if (!field.allowed.empty())
    return Json(boost::json::string(field.allowed[i % field.allowed.size()]));
  return Json(boost::json::string(name));
}

bool is_key(const Field& list, const Field& member) {
  const auto in = [&](const std::vector<std::string>& keys) {
    return std::ranges::find(keys, member.name) != keys.end();
  };
  return in(list.merge_keys) || in(list.list_keys) || member.required || member.name == "name" ||
         member.name == "key" || member.name == "uid";
}

// One item or entry; `name` and `i` tell it from others.
Json entry(const Field& field, std::size_t i, const std::string& name) {
  if (field.shape != Shape::Message) return scalar(field, i, name);
  if (field.message->bare_list() != nullptr) return JsonArray();
  static std::map<const Message*, JsonObject> known;
  auto [found, is_new] = known.try_emplace(field.message);
  if (is_new) found->second = smallest(*field.message);
  JsonObject item = found->second;
  bool named = false;
  for (const Field* member : field.message->members) {
    if (member->repeat != Repeat::One || member->shape == Shape::Message) continue;
    if (!is_key(field, *member)) continue;
    item[member->name] = scalar(*member, i, name);
    named = true;
  }
  if (named) return item;
  for (const Field* member : field.message->members)
    if (member->repeat == Repeat::One && member->shape == Shape::String) {
      item[member->name] = scalar(*member, i, name);
      break;
    }
  return item;
}

Json list_entry(const Field& field, std::size_t i, std::size_t count, Order order) {
  switch (order) {
    case Order::Rising: return entry(field, i, key(i));
    case Order::Falling: return entry(field, count - 1 - i, key(count - 1 - i));
    case Order::Equal: return entry(field, 0, key(0));
    case Order::Null: return nullptr;
    case Order::Empty:
      if (field.shape != Shape::Message) return scalar(field, 0, "");
      return field.message->bare_list() != nullptr ? Json(JsonArray()) : Json(JsonObject());
    case Order::Unknown: {
      Json item = entry(field, i, key(i));
      if (item.is_object()) item.get_object()["no" + key(i)] = true;
      return item;
    }
    case Order::LongFirst: return entry(field, i, i == 0 ? std::string(count * 8, 'k') : key(i));
  }
  return nullptr;
}

Json map_of(const Field& field, std::size_t count, Order order) {
  if (order == Order::Equal) return JsonObject{{kManyTimes, entry(field, 0, key(0))}};
  JsonObject map;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = order == Order::Falling ? count - 1 - i : i;
    const std::string name =
        order == Order::LongFirst && i == 0 ? std::string(count * 8, 'k') : key(at);
    map[name] = order == Order::Rising || order == Order::Falling
                    ? entry(field, at, key(at))
                    : list_entry(field, i, count, order);
  }
  return map;
}

void find_targets(const api::Kind& kind, const Message& message, std::vector<const Field*>& path,
                  std::set<const Field*>& once, bool of_every_kind, std::vector<Target>& out) {
  for (const Field* field : message.members) {
    if (std::ranges::find(path, field) != path.end()) continue;
    path.push_back(field);
    const bool is_new = once.insert(field).second;
    if (field->repeat != Repeat::One && (is_new || of_every_kind))
      out.push_back({.kind = &kind, .path = path, .is_first = is_new});
    if (field->message != nullptr && field->message->bare_list() == nullptr &&
        (is_new || of_every_kind))
      find_targets(kind, *field->message, path, once, of_every_kind, out);
    path.pop_back();
  }
}

// The first item or entry of what stands there already; null if there is none.
JsonObject* first_below(JsonObject& parent, const Field& field) {
  Json* const there = parent.if_contains(field.name);
  if (there == nullptr) return nullptr;
  if (JsonArray* items = there->if_array())
    return items->empty() ? nullptr : items->front().if_object();
  JsonObject* const map = there->if_object();
  return map == nullptr || map->empty() ? nullptr : map->begin()->value().if_object();
}

// Whether what stands in a document goes when a path is entered: it is only kept for another
// target.
enum class Before : std::uint8_t { Goes, Stays };

// The object below a step of the path. Lists get one item and maps one entry, which are the same in
// documents and in patches, so that patches meet what they change.
JsonObject& step_into(JsonObject& parent, const Field& field, Before before) {
  if (field.repeat != Repeat::One && before == Before::Stays)
    if (JsonObject* below = first_below(parent, field)) return *below;
  if (field.repeat == Repeat::List) {
    JsonArray items{entry(field, 0, key(0))};
    Json& value = parent.insert_or_assign(field.name, std::move(items)).first->value();
    return value.get_array()[0].get_object();
  }
  if (field.repeat == Repeat::Map) {
    JsonObject map{{"a", smallest(*field.message)}};
    Json& value = parent.insert_or_assign(field.name, std::move(map)).first->value();
    return value.get_object().begin()->value().get_object();
  }
  return api::ensure_object(parent, field.name);
}

JsonObject& holder_of(const Target& target, JsonObject& document, Before before = Before::Goes) {
  JsonObject* at = &document;
  for (std::size_t i = 0; i + 1 < target.path.size(); ++i)
    at = &step_into(*at, *target.path[i], before);
  return *at;
}

// Puts the entries behind the first one, which stands there for what is in it.
void add_behind_first(Json& list_or_map, Json entries) {
  if (JsonArray* items = list_or_map.if_array()) {
    JsonArray& more = entries.get_array();
    for (std::size_t i = 1; i < more.size(); ++i) items->push_back(std::move(more[i]));
    return;
  }
  for (auto& entry : entries.get_object())
    list_or_map.get_object().insert_or_assign(entry.key(), std::move(entry.value()));
}

JsonObject named_document(const api::Kind& kind) {
  JsonObject document = smallest(*kind.message);
  JsonObject& metadata = api::ensure_object(document, "metadata");
  metadata["name"] = "x";
  if (kind.namespaced) metadata["namespace"] = "default";
  return document;
}

}  // namespace

std::string Target::text() const {
  std::string out = kind->kind;
  for (std::size_t i = 0; i < path.size(); ++i) out += (i == 0 ? ' ' : '.') + path[i]->name;
  return out;
}

std::vector<Target> targets(bool of_every_kind) {
  std::vector<Target> out;
  std::set<const Field*> once;
  for (const api::Kind* kind : api::all_kinds()) {
    std::vector<const Field*> path;
    find_targets(*kind, *kind->message, path, once, of_every_kind, out);
  }
  return out;
}

std::vector<Target> targets_of(const api::Kind& kind) {
  std::vector<Target> out;
  std::set<const Field*> once;
  std::vector<const Field*> path;
  find_targets(kind, *kind.message, path, once, /*of_every_kind=*/false, out);
  return out;
}

std::vector<Target> one_of_each_form() {
  std::set<std::tuple<Repeat, Shape, std::size_t, std::size_t>> seen;
  std::vector<Target> out;
  for (Target& target : targets(/*of_every_kind=*/false)) {
    const Field& field = target.field();
    const Json one = entry(field, 0, key(0));
    const std::size_t members = one.is_object() ? one.get_object().size() : 0;
    if (seen.emplace(field.repeat, field.shape, members, target.path.size()).second)
      out.push_back(std::move(target));
  }
  return out;
}

std::string_view order_name(Order order) {
  constexpr std::string_view kNames[] = {"rising", "falling", "equal",     "empty",
                                         "null",   "unknown", "long first"};
  return kNames[static_cast<std::size_t>(order)];
}

Json entries(const Target& target, std::size_t count, Order order) {
  const Field& field = target.field();
  if (field.repeat == Repeat::Map) return map_of(field, count, order);
  JsonArray items;
  for (std::size_t i = 0; i < count; ++i) items.push_back(list_entry(field, i, count, order));
  return items;
}

Json document_with(const Target& target, Json value) {
  JsonObject document = named_document(*target.kind);
  holder_of(target, document)[target.field().name] = std::move(value);
  return document;
}

Json document_with(const Target& one, Json value, const Target& other, Json other_value) {
  // The inner one first: the outer one then finds the entry that it stands in.
  if (one.path.size() < other.path.size())
    return document_with(other, std::move(other_value), one, std::move(value));
  JsonObject document = named_document(*one.kind);
  holder_of(one, document)[one.field().name] = std::move(value);
  JsonObject& holder = holder_of(other, document, Before::Stays);
  const bool is_outer = std::ranges::find(one.path, &other.field()) != one.path.end();
  if (is_outer)
    add_behind_first(holder[other.field().name], std::move(other_value));
  else
    holder[other.field().name] = std::move(other_value);
  return document;
}

Json patch_with(const Target& target, JsonObject members) {
  JsonObject patch;
  JsonObject& holder = holder_of(target, patch);
  for (auto& member : members) holder[member.key()] = std::move(member.value());
  return patch;
}

std::string text_of(const Json& document, std::size_t count) {
  std::string text = api::to_text(document);
  const std::string mark = fmt::format(R"({{"{}":)", kManyTimes);
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return text;
  const std::size_t end = text.find('}', at);
  // One member, which ends where its object does or, if it is an object itself, with it.
  const std::size_t value_at = at + mark.size();
  std::size_t value_end = end;
  if (text[value_at] == '{') {
    int depth = 0;
    value_end = value_at;
    do {
      if (text[value_end] == '{') ++depth;
      if (text[value_end] == '}') --depth;
      ++value_end;
    } while (depth > 0);
  }
  const std::string value = text.substr(value_at, value_end - value_at);
  std::string many = "{";
  for (std::size_t i = 0; i < count; ++i)
    many += fmt::format(R"({}"again":{})", i == 0 ? "" : ",", value);
  return text.replace(at, value_end - at, many);
}

}  // namespace muster::cost
