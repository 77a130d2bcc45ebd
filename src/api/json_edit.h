#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"

// Edits of documents in linear time, however much is removed. Boost keeps the order of members by
// shifting all that follow, so removing members one by one takes quadratic time.
namespace muster::api {

// Removes the members at these places, given in rising order; the others keep their order.
void erase_members_at(JsonObject& object, const std::vector<std::size_t>& places);

// Removes each member for which `is_gone(member)`; asks once per member, in order.
template <typename IsGone>
void erase_members(JsonObject& object, IsGone&& is_gone) {
  std::vector<std::size_t> places;
  std::size_t at = 0;
  for (auto& member : object) {
    if (is_gone(member)) places.push_back(at);
    ++at;
  }
  erase_members_at(object, places);
}

// Removes each item for which `is_gone(item)`; asks once per item, in order.
template <typename IsGone>
void erase_items(JsonArray& items, IsGone&& is_gone) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (is_gone(items[at])) continue;
    if (kept != at) items[kept] = std::move(items[at]);
    ++kept;
  }
  items.erase(items.begin() + kept, items.end());
}

}  // namespace muster::api
