#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_edit.h"
#include "api/patch/go_text.h"
#include "api/patch/merge_identity.h"
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

tl::unexpected<Error> unknown_directive(const Json& directive, const Json& where) {
  return fail(Reason::InternalError, "unknown patch type: {} in map: {}", go_text(directive),
              go_text(where));
}

// What is taken over as it stands loses its directives and nulls: a map with $patch is dropped
// whole. False if the value itself must be dropped.
bool strip(Json& value) {
  if (JsonObject* object = value.if_object()) {
    if (object->contains(kDirective)) return false;
    erase_members(*object, [](auto& member) {
      const std::string_view name = member.key();
      const bool is_directive = name == kRetainKeys || name.starts_with(kSetElementOrder) ||
                                name.starts_with(kDeleteFromList);
      return is_directive || member.value().is_null() || !strip(member.value());
    });
  } else if (JsonArray* array = value.if_array()) {
    erase_items(*array, [](Json& item) { return !strip(item); });
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

bool is_delete(const Json& item) { return find_string(item, kDirective) == "delete"; }

// Entries of stored lists and maps that may still be looked at.
using Visits = Budget;

tl::unexpected<Error> too_expensive() {
  return fail(Reason::RequestEntityTooLarge,
              "The strategic merge patch is too expensive: it merges into more than {} entries",
              kLimits.merged_entries);
}

Result<void> merge_object(const Members& members, JsonObject& target, JsonObject patch,
                          Visits& visits);

// Carries out and removes the items of `patch` that are directives.
Result<void> apply_item_directives(const Identity& identity, JsonArray& target, JsonArray& patch) {
  JsonArray plain(patch.storage());
  ItemIndex deleted;
  bool replace = false;
  for (Json& item : patch) {
    const Json* directive = find(item, kDirective);
    if (directive == nullptr) {
      plain.push_back(std::move(item));
    } else if (*directive == "delete") {
      auto name = identity.name(item);
      if (!name) return no_merge_key(item, identity.key());
      deleted.add(*std::move(name), 0);
    } else if (*directive == "replace") {
      replace = true;
    } else if (*directive == "merge") {
      return fail(Reason::InternalError, "merging lists cannot yet be specified in the patch");
    } else {
      return unknown_directive(*directive, item);
    }
  }
  patch = std::move(plain);
  if (replace) {
    target.clear();
    for (Json& item : std::exchange(patch, JsonArray()))
      if (strip(item)) target.push_back(std::move(item));
  } else if (!deleted.empty()) {
    erase_items(target, [&](const Json& item) {
      const auto name = identity.name(item);
      return name && deleted.contains(*name);
    });
  }
  return {};
}

Result<JsonArray> merge_list(const Field& field, JsonArray target, JsonArray patch,
                             Visits& visits) {
  if (!visits.spend(target.size())) return too_expensive();
  const Identity identity(field);
  if (identity.by_key())
    if (auto done = apply_item_directives(identity, target, patch); !done)
      return fail(std::move(done).error());
  if (auto sound = identity.check(patch); !sound) return fail(std::move(sound).error());
  const ItemIndex patch_order(identity, patch);
  const ItemIndex server_order(identity, target);
  ItemIndex places = server_order;  // and what the patch adds
  for (Json& item : patch) {
    std::string name = *identity.name(item);
    const auto place = places.find(name);
    if (!place) {
      if (!strip(item)) continue;
      places.add(std::move(name), target.size());
      target.push_back(std::move(item));
    } else if (identity.by_key()) {
      auto done = merge_object({field.message, nullptr}, target[*place].as_object(),
                               std::move(item.as_object()), visits);
      if (!done) return fail(std::move(done).error());
    }
  }
  return in_merged_order(identity, std::move(target), patch_order, server_order);
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
                         JsonObject& target, JsonObject& patch, Visits& visits) {
  const JsonArray* order = order_value.if_array();
  Json* stored = target.if_contains(name);
  Json* change = patch.if_contains(name);
  if (order == nullptr || (stored != nullptr && !stored->is_array()) ||
      (change != nullptr && !change->is_array()))
    return fail(Reason::BadRequest, "invalid patch format of setElementOrder list");
  const Field* field = members.field(name);
  if (field == nullptr || !field->merges || (stored == nullptr && change == nullptr)) return {};
  if (stored != nullptr && !visits.spend(stored->get_array().size())) return too_expensive();
  const Identity identity(*field);
  // Moved out, not copied: a patch that fails further down leaves no document behind.
  JsonArray merged = stored != nullptr ? std::move(stored->get_array()) : JsonArray();
  const ItemIndex server_order(identity, merged);
  if (auto sound = identity.check(*order); !sound) return sound;
  if (change != nullptr) {
    if (auto sound = check_order(identity, change->get_array(), *order); !sound) return sound;
    if (stored != nullptr) {
      merged = TRY(merge_list(*field, std::move(merged), std::move(change->get_array()), visits));
    } else {
      strip(*change);
      merged = std::move(change->get_array());
    }
  }
  target[name] =
      in_merged_order(identity, std::move(merged), ItemIndex(identity, *order), server_order);
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
  // Of a long list only the names that somebody asks about below are worth sorting.
  std::set<std::string_view> names;
  for (const Json& key : *retained)
    if (key.is_string() && (target.contains(key.get_string()) || patch.contains(key.get_string())))
      names.insert(key.get_string());
  for (const auto& member : patch) {
    const std::string_view name = member.key();
    if (member.value().is_null() || name.starts_with(kSetElementOrder) ||
        name.starts_with(kDeleteFromList))
      continue;
    if (!names.contains(name)) return bad_format();
  }
  erase_members(target, [&](const auto& member) { return !names.contains(member.key()); });
  return {};
}

Result<void> apply_deletions(std::string_view name, const Json& deletions, JsonObject& target,
                             Visits& visits) {
  const JsonArray* values = deletions.if_array();
  if (values == nullptr) return fail(Reason::BadRequest, "invalid patch format of primitive list");
  Json* stored = target.if_contains(name);
  JsonArray* items = stored == nullptr ? nullptr : stored->if_array();
  if (items == nullptr) return {};
  if (!visits.spend(items->size())) return too_expensive();
  const Identity itself;
  const ItemIndex deleted(itself, *values);
  erase_items(*items, [&](const Json& item) { return deleted.contains(*itself.name(item)); });
  return {};
}

// Members of a target that go once all others are merged: one by one they would shift the rest.
using Gone = std::set<std::string_view>;

Result<void> merge_member(const Members& members, JsonObject& target, std::string_view name,
                          Json value, Gone& gone, Visits& visits) {
  const auto member = target.find(name);
  const Field* field = members.field(name);
  if (member != target.end() && member->value().is_object() && value.is_object() &&
      (field == nullptr || !field->replaces))
    return merge_object(members.below(name), member->value().get_object(),
                        std::move(value.get_object()), visits);
  if (member != target.end() && member->value().is_array() && value.is_array() &&
      field != nullptr && field->merges) {
    member->value() = TRY(merge_list(*field, std::move(member->value().get_array()),
                                     std::move(value.get_array()), visits));
    return {};
  }
  if (strip(value))
    target[name] = std::move(value);
  else
    gone.insert(name);
  return {};
}

Result<void> merge_object(const Members& members, JsonObject& target, JsonObject patch,
                          Visits& visits) {
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

  std::vector<std::pair<std::string, Json>> orders;  // by the name of the list
  erase_members(patch, [&](auto& member) {
    const std::string_view name = member.key();
    if (!name.starts_with(kSetElementOrder)) return false;
    orders.emplace_back(name.substr(kSetElementOrder.size()), std::move(member.value()));
    return true;
  });
  for (const auto& [name, order] : orders)
    if (auto done = apply_order(members, name, order, target, patch, visits); !done) return done;

  Gone gone;
  for (auto& member : patch) {
    const std::string_view name = member.key();
    if (name.starts_with(kDeleteFromList)) continue;
    if (member.value().is_null()) {
      if (target.contains(name)) gone.insert(name);
      continue;
    }
    auto done = merge_member(members, target, name, std::move(member.value()), gone, visits);
    if (!done) return done;
  }
  if (!gone.empty() && !visits.spend(target.size())) return too_expensive();
  if (!gone.empty())
    erase_members(target, [&](const auto& member) { return gone.contains(member.key()); });
  // Deletions come last: a list that the same patch extends has been merged by then.
  for (auto& member : patch) {
    const std::string_view name = member.key();
    if (!name.starts_with(kDeleteFromList)) continue;
    auto done =
        apply_deletions(name.substr(kDeleteFromList.size()), member.value(), target, visits);
    if (!done) return done;
  }
  return {};
}

}  // namespace

Result<Json> strategic_merge_patch(const Message& message, Json target, const Json& patch) {
  if (!patch.is_object())
    return fail(Reason::BadRequest, "error decoding patch: a strategic merge patch is an object");
  if (!target.is_object()) target.emplace_object();
  Visits visits(kLimits.merged_entries);
  auto done = merge_object({&message, nullptr}, target.get_object(), patch.get_object(), visits);
  if (!done) return fail(std::move(done).error());
  return target;
}

}  // namespace muster::api
