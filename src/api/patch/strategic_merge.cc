#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/patch/patch.h"

// Follows apimachinery's strategicpatch, MergeParallelList and IgnoreUnmatchedNulls set, which is
// how a kube-apiserver calls it; the error texts are its own.
namespace muster::api {
namespace {

using schema::Field;
using schema::Message;
using schema::Repeat;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";

// A value as fmt.Sprint prints it in Go: map[a:1 b:[x y]].
void write_go(const Json& value, std::string& out) {
  if (const JsonObject* object = value.if_object()) {
    std::vector<std::string_view> keys;
    for (const auto& member : *object) keys.push_back(member.key());
    std::ranges::sort(keys);
    out += "map[";
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i != 0) out += ' ';
      out += keys[i];
      out += ':';
      write_go(object->at(keys[i]), out);
    }
    out += ']';
  } else if (const JsonArray* array = value.if_array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i != 0) out += ' ';
      write_go((*array)[i], out);
    }
    out += ']';
  } else if (value.is_string()) {
    out += std::string_view(value.get_string());
  } else if (value.is_null()) {
    out += "<nil>";
  } else {
    write_json(value, out);
  }
}

std::string go_text(const Json& value) {
  std::string out;
  write_go(value, out);
  return out;
}

tl::unexpected<Error> no_merge_key(const Json& item, std::string_view key) {
  return fail(Reason::InternalError, "map: {} does not contain declared merge key: {}",
              go_text(item), key);
}

tl::unexpected<Error> unknown_directive(const Json& directive, const Json& where) {
  return fail(Reason::InternalError, "unknown patch type: {} in map: {}", go_text(directive),
              go_text(where));
}

// What is taken over as it stands loses its directives and nulls: a map with $patch is dropped
// whole. False if the value itself must be dropped.
bool strip(Json& value) {
  if (JsonObject* object = value.if_object()) {
    if (object->contains(kDirective)) return false;
    std::vector<std::string> gone;
    for (auto& member : *object) {
      const std::string_view name = member.key();
      const bool is_directive = name == kRetainKeys || name.starts_with(kSetElementOrder) ||
                                name.starts_with(kDeleteFromList);
      if (is_directive || member.value().is_null() || !strip(member.value()))
        gone.emplace_back(name);
    }
    for (const std::string& name : gone) object->stable_erase(object->find(name));
  } else if (JsonArray* array = value.if_array()) {
    for (auto item = array->begin(); item != array->end();)
      item = strip(*item) ? std::next(item) : array->erase(item);
  }
  return true;
}

// What the schema says of the members of an object: they are fields of a message, or entries of a
// map, or nothing is known.
struct Members {
  const Message* message = nullptr;
  const Field* map = nullptr;

  const Field* field(std::string_view name) const {
    return message != nullptr ? message->find(name) : nullptr;
  }
  // The members of the member `name`, if that is an object.
  Members below(std::string_view name) const {
    if (map != nullptr) return {map->message, nullptr};
    const Field* found = field(name);
    if (found == nullptr) return {};
    if (found->repeat == Repeat::Map) return {nullptr, found};
    return {found->message, nullptr};
  }
};

// How the items of a merging list are told apart: by a key, or by themselves if it is empty.
class Identity {
 public:
  explicit Identity(const Field& field)
      : key_(field.merge_keys.empty() ? std::string_view() : field.merge_keys[0]) {}

  std::string_view key() const { return key_; }
  bool by_key() const { return !key_.empty(); }

  // Null if the item lacks the key.
  const Json* of(const Json& item) const { return by_key() ? find(item, key_) : &item; }

  std::optional<std::size_t> index(const JsonArray& items, const Json& item) const {
    const Json* wanted = of(item);
    if (wanted == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Json* candidate = of(items[i]);
      if (candidate != nullptr && *candidate == *wanted) return i;
    }
    return std::nullopt;
  }

  // What tells the items apart, in their order: all that ordering needs to remember of a list
  // whose items move elsewhere. Items without the key have none.
  using Names = std::vector<std::optional<Json>>;
  Names names(const JsonArray& items) const {
    Names out;
    out.reserve(items.size());
    for (const Json& item : items) {
      const Json* name = of(item);
      out.push_back(name == nullptr ? std::nullopt : std::optional<Json>(*name));
    }
    return out;
  }
  std::optional<std::size_t> index(const Names& names, const Json& item) const {
    const Json* wanted = of(item);
    if (wanted == nullptr) return std::nullopt;
    const auto found = std::ranges::find_if(
        names, [&](const std::optional<Json>& name) { return name && *name == *wanted; });
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
  }

  // Every item must be a map that has the key, or no map at all.
  Result<void> check(const JsonArray& items) const {
    for (const Json& item : items) {
      if (item.is_array()) return fail(Reason::Invalid, "lists of lists are not supported");
      if (item.is_object() != by_key())
        return fail(Reason::InternalError, "list element types are not identical: {}",
                    go_text(items));
      if (of(item) == nullptr) return no_merge_key(item, key_);
    }
    return {};
  }

 private:
  std::string_view key_;
};

bool is_delete(const Json& item) { return find_string(item, kDirective) == "delete"; }

// Puts the items into the order of a merge: those named by `patch_order` in that order, the others
// as in `server_order`, and each of the others before the first named item that followed it on the
// server. An item that the server did not have follows nothing, so new items come first.
JsonArray in_order(const Identity& identity, JsonArray items, const Identity::Names& patch_order,
                   const Identity::Names& server_order) {
  struct Ranked {
    std::pair<std::size_t, std::size_t> rank;  // in its order, then as it stood among `items`
    std::optional<std::size_t> on_server;
    Json item;
  };
  std::vector<Ranked> named;
  std::vector<Ranked> others;
  for (Json& item : items) {
    const auto on_server = identity.index(server_order, item);
    if (const auto rank = identity.index(patch_order, item))
      named.push_back({{*rank, named.size()}, on_server, std::move(item)});
    else
      others.push_back(
          {{on_server.value_or(server_order.size()), others.size()}, on_server, std::move(item)});
  }
  std::ranges::sort(named, {}, &Ranked::rank);
  std::ranges::sort(others, {}, &Ranked::rank);

  JsonArray ordered(items.storage());
  ordered.reserve(named.size() + others.size());
  auto other = others.begin();
  for (Ranked& next : named) {
    while (other != others.end() && other->on_server && next.on_server &&
           *other->on_server < *next.on_server)
      ordered.push_back(std::move((other++)->item));
    ordered.push_back(std::move(next.item));
  }
  for (; other != others.end(); ++other) ordered.push_back(std::move(other->item));
  return ordered;
}

Result<void> merge_object(const Members& members, JsonObject& target, JsonObject patch);

// Carries out and removes the items of `patch` that are directives.
Result<void> take_special_items(const Identity& identity, JsonArray& target, JsonArray& patch) {
  JsonArray plain(patch.storage());
  bool replace = false;
  for (Json& item : patch) {
    const Json* directive = find(item, kDirective);
    if (directive == nullptr) {
      plain.push_back(std::move(item));
    } else if (*directive == "delete") {
      if (identity.of(item) == nullptr) return no_merge_key(item, identity.key());
      while (const auto index = identity.index(target, item)) target.erase(target.begin() + *index);
    } else if (*directive == "replace") {
      replace = true;
    } else if (*directive == "merge") {
      return fail(Reason::InternalError, "merging lists cannot yet be specified in the patch");
    } else {
      return unknown_directive(*directive, item);
    }
  }
  patch = std::move(plain);
  if (!replace) return {};
  target.clear();
  for (Json& item : std::exchange(patch, JsonArray()))
    if (strip(item)) target.push_back(std::move(item));
  return {};
}

Result<JsonArray> merge_list(const Field& field, JsonArray target, JsonArray patch) {
  const Identity identity(field);
  if (identity.by_key())
    if (auto done = take_special_items(identity, target, patch); !done)
      return fail(std::move(done).error());
  if (auto sound = identity.check(patch); !sound) return fail(std::move(sound).error());
  const Identity::Names patch_order = identity.names(patch);
  const Identity::Names server_order = identity.names(target);
  for (Json& item : patch) {
    const auto index = identity.index(target, item);
    if (!index) {
      if (strip(item)) target.push_back(std::move(item));
    } else if (identity.by_key()) {
      auto done = merge_object({field.message, nullptr}, target[*index].as_object(),
                               std::move(item.as_object()));
      if (!done) return fail(std::move(done).error());
    }
  }
  return in_order(identity, std::move(target), patch_order, server_order);
}

// The order list must name every item of the patch that stays, and in the same order.
Result<void> check_order(const Identity& identity, const JsonArray& patch, const JsonArray& order) {
  if (order.empty()) return {};
  std::size_t at = 0;
  for (const Json& item : patch) {
    if (is_delete(item) || find(item, kDirective) != nullptr) continue;
    const Json* wanted = identity.of(item);
    if (wanted == nullptr) return no_merge_key(item, identity.key());
    const auto names_it = [&](const Json& named) {
      const Json* name = identity.of(named);
      return name != nullptr && *name == *wanted;
    };
    while (at < order.size() && !names_it(order[at])) ++at;
    if (at++ == order.size())
      return fail(Reason::InternalError,
                  "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                  go_text(patch), go_text(order));
  }
  return {};
}

// One $setElementOrder directive: merges the list it names, if the patch has it, and orders the
// result.
Result<void> apply_order(const Members& members, std::string_view name, const Json& order_value,
                         JsonObject& target, JsonObject& patch) {
  const JsonArray* order = order_value.if_array();
  const Json* stored = target.if_contains(name);
  const Json* change = patch.if_contains(name);
  if (order == nullptr || (stored != nullptr && !stored->is_array()) ||
      (change != nullptr && !change->is_array()))
    return fail(Reason::BadRequest, "invalid patch format of setElementOrder list");
  const Field* field = members.field(name);
  if (field == nullptr || !field->merges || (stored == nullptr && change == nullptr)) return {};
  const Identity identity(*field);
  JsonArray merged = stored != nullptr ? stored->get_array() : JsonArray();
  const Identity::Names server_order = identity.names(merged);
  if (auto sound = identity.check(*order); !sound) return sound;
  if (change != nullptr) {
    if (auto sound = check_order(identity, change->get_array(), *order); !sound) return sound;
    if (stored != nullptr) {
      merged = TRY(merge_list(*field, std::move(merged), change->get_array()));
    } else {
      Json taken = *change;
      strip(taken);
      merged = std::move(taken.get_array());
    }
  }
  target[name] = in_order(identity, std::move(merged), identity.names(*order), server_order);
  patch.erase(name);
  return {};
}

// Drops what $retainKeys does not name; it must name everything the patch sets.
Result<void> apply_retain_keys(JsonObject& target, JsonObject& patch) {
  const auto found = patch.find(kRetainKeys);
  if (found == patch.end()) return {};
  const Json directive = std::move(found->value());
  patch.stable_erase(found);
  const auto bad_format = [] {
    return fail(Reason::BadRequest, "invalid patch format of retainKeys");
  };
  const JsonArray* retained = directive.if_array();
  if (retained == nullptr) return bad_format();
  const auto is_retained = [&](std::string_view name) {
    return std::ranges::any_of(*retained, [&](const Json& key) {
      return key.is_string() && std::string_view(key.get_string()) == name;
    });
  };
  for (const auto& member : patch) {
    const std::string_view name = member.key();
    if (member.value().is_null() || name.starts_with(kSetElementOrder) ||
        name.starts_with(kDeleteFromList))
      continue;
    if (!is_retained(name)) return bad_format();
  }
  std::vector<std::string> gone;
  for (const auto& member : target)
    if (!is_retained(member.key())) gone.emplace_back(member.key());
  for (const std::string& name : gone) target.stable_erase(target.find(name));
  return {};
}

Result<void> apply_deletions(std::string_view name, const Json& deletions, JsonObject& target) {
  const JsonArray* values = deletions.if_array();
  if (values == nullptr) return fail(Reason::BadRequest, "invalid patch format of primitive list");
  Json* stored = target.if_contains(name);
  JsonArray* items = stored == nullptr ? nullptr : stored->if_array();
  if (items == nullptr) return {};
  const auto is_deleted = [&](const Json& item) {
    return std::ranges::find(*values, item) != values->end();
  };
  JsonArray kept(items->storage());
  for (Json& item : *items)
    if (!is_deleted(item)) kept.push_back(std::move(item));
  *items = std::move(kept);
  return {};
}

void replace_member(JsonObject& target, std::string_view name, Json value) {
  const auto member = target.find(name);
  if (!strip(value)) {
    if (member != target.end()) target.stable_erase(member);
  } else {
    target[name] = std::move(value);
  }
}

Result<void> merge_member(const Members& members, JsonObject& target, std::string_view name,
                          Json value) {
  const auto member = target.find(name);
  if (value.is_null()) {
    if (member != target.end()) target.stable_erase(member);
    return {};
  }
  const Field* field = members.field(name);
  if (member != target.end() && member->value().is_object() && value.is_object() &&
      (field == nullptr || !field->replaces))
    return merge_object(members.below(name), member->value().get_object(),
                        std::move(value.get_object()));
  if (member != target.end() && member->value().is_array() && value.is_array() &&
      field != nullptr && field->merges) {
    member->value() = TRY(
        merge_list(*field, std::move(member->value().get_array()), std::move(value.get_array())));
    return {};
  }
  replace_member(target, name, std::move(value));
  return {};
}

Result<void> merge_object(const Members& members, JsonObject& target, JsonObject patch) {
  if (const auto found = patch.find(kDirective); found != patch.end()) {
    if (found->value() != "replace" && found->value() != "delete")
      return unknown_directive(found->value(), patch);
    const bool replace = found->value() == "replace";
    patch.stable_erase(found);
    Json rest = replace ? Json(std::move(patch)) : Json(JsonObject());
    strip(rest);
    target = std::move(rest.get_object());
    return {};
  }
  if (auto done = apply_retain_keys(target, patch); !done) return done;

  std::vector<std::string> orders;
  for (const auto& member : patch)
    if (std::string_view(member.key()).starts_with(kSetElementOrder))
      orders.emplace_back(member.key());
  for (const std::string& directive : orders) {
    const Json order = std::move(patch.at(directive));
    patch.stable_erase(patch.find(directive));
    const std::string_view name = std::string_view(directive).substr(kSetElementOrder.size());
    if (auto done = apply_order(members, name, order, target, patch); !done) return done;
  }

  for (auto& member : patch) {
    const std::string_view name = member.key();
    if (name.starts_with(kDeleteFromList)) continue;
    if (auto done = merge_member(members, target, name, std::move(member.value())); !done)
      return done;
  }
  // Deletions come last: a list that the same patch extends has been merged by then.
  for (auto& member : patch) {
    const std::string_view name = member.key();
    if (!name.starts_with(kDeleteFromList)) continue;
    auto done = apply_deletions(name.substr(kDeleteFromList.size()), member.value(), target);
    if (!done) return done;
  }
  return {};
}

}  // namespace

Result<Json> strategic_merge_patch(const Message& message, Json target, const Json& patch) {
  if (!patch.is_object())
    return fail(Reason::BadRequest, "error decoding patch: a strategic merge patch is an object");
  if (!target.is_object()) target.emplace_object();
  auto done = merge_object({&message, nullptr}, target.get_object(), patch.get_object());
  if (!done) return fail(std::move(done).error());
  return target;
}

}  // namespace muster::api
