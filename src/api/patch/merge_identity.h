#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

// How items are told apart in a list that strategic merge patches merge, and their order
// afterwards.
namespace muster::api {

tl::unexpected<Error> no_merge_key(const Json& item, std::string_view key);

// What identifies an item: the value of its merge key, or the item itself if the list has none. A
// text, so that lists are compared by lookups and not each with each.
class Identity {
 public:
  Identity() = default;  // each item by itself
  explicit Identity(const schema::Field& field)
      : key_(field.merge_keys.empty() ? std::string_view() : field.merge_keys[0]) {}

  std::string_view key() const { return key_; }
  bool by_key() const { return !key_.empty(); }

  // Null if the item lacks the key.
  const Json* of(const Json& item) const { return by_key() ? find(item, key_) : &item; }
  // As a text: equal for equal values, whatever the order of their members.
  std::optional<std::string> name(const Json& item) const;

  // Every item must be a map that has the key, or not a map at all.
  Result<void> check(const JsonArray& items) const;

 private:
  std::string_view key_;
};

// The position of each item of a list; of equal ones, the first.
class ItemIndex {
 public:
  ItemIndex() = default;
  ItemIndex(const Identity& identity, const JsonArray& items);

  std::optional<std::size_t> find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }
  bool empty() const { return places_.empty(); }
  // Keeps the first place of a name.
  void add(std::string name, std::size_t place) { places_.emplace(std::move(name), place); }
  std::size_t list_size() const { return list_size_; }

 private:
  // A tree, not a hash table: names come from outside and could be made to collide.
  std::map<std::string, std::size_t, std::less<>> places_;
  std::size_t list_size_ = 0;
};

// Puts the items into the order of a merge: those named by `patch_order` in that order, the others
// as in `server_order`, and each of the others before the first named item that followed it on the
// server. An item that the server did not have has no predecessor, so new items come first.
JsonArray in_merged_order(const Identity& identity, JsonArray items, const ItemIndex& patch_order,
                          const ItemIndex& server_order);

}  // namespace muster::api
