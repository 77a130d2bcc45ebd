#include "api/patch/merge_identity.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/patch/go_text.h"

namespace muster::api {
namespace {

// JSON text with the members of objects in the order of their names.
void write_sorted(const Json& value, std::string& out) {
  if (const JsonObject* object = value.if_object()) {
    std::vector<const JsonObject::value_type*> members;
    for (const auto& member : *object) members.push_back(&member);
    std::ranges::sort(members, {}, [](const auto* member) { return member->key(); });
    out += '{';
    for (const auto* member : members) {
      write_string(member->key(), out);
      out += ':';
      write_sorted(member->value(), out);
      out += ',';
    }
    out += '}';
  } else if (const JsonArray* items = value.if_array()) {
    out += '[';
    for (const Json& item : *items) {
      write_sorted(item, out);
      out += ',';
    }
    out += ']';
  } else {
    write_json(value, out);
  }
}

}  // namespace

tl::unexpected<Error> no_merge_key(const Json& item, std::string_view key) {
  return fail(Reason::InternalError, "map: {} does not contain declared merge key: {}",
              go_text(item), key);
}

std::optional<std::string> Identity::name(const Json& item) const {
  const Json* const value = of(item);
  if (value == nullptr) return std::nullopt;
  std::string out;
  write_sorted(*value, out);
  return out;
}

Result<void> Identity::check(const JsonArray& items) const {
  for (const Json& item : items) {
    if (item.is_array()) return fail(Reason::Invalid, "lists of lists are not supported");
    if (item.is_object() != by_key())
      return fail(Reason::InternalError, "list element types are not identical: {}",
                  go_text(items));
    if (of(item) == nullptr) return no_merge_key(item, key_);
  }
  return {};
}

ItemIndex::ItemIndex(const Identity& identity, const JsonArray& items) : list_size_(items.size()) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (auto name = identity.name(items[i])) add(*std::move(name), i);
}

std::optional<std::size_t> ItemIndex::find(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

JsonArray in_merged_order(const Identity& identity, JsonArray items, const ItemIndex& patch_order,
                          const ItemIndex& server_order) {
  struct Ranked {
    std::pair<std::size_t, std::size_t> rank;  // in its order, then as it stood among `items`
    std::optional<std::size_t> on_server;
    Json item;
  };
  std::vector<Ranked> named;
  std::vector<Ranked> others;
  for (Json& item : items) {
    const std::optional<std::string> name = identity.name(item);
    const auto on_server = name ? server_order.find(*name) : std::nullopt;
    if (const auto rank = name ? patch_order.find(*name) : std::nullopt)
      named.push_back({{*rank, named.size()}, on_server, std::move(item)});
    else
      others.push_back({{on_server.value_or(server_order.list_size()), others.size()},
                        on_server,
                        std::move(item)});
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

}  // namespace muster::api
