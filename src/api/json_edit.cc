#include "api/json_edit.h"

#include <ranges>

namespace muster::api {
namespace {

// Up to here shifting is quicker than a new table, which also costs memory.
constexpr std::size_t kShiftsMax = 2;

}  // namespace

void erase_members_at(JsonObject& object, const std::vector<std::size_t>& places) {
  if (places.size() <= kShiftsMax) {
    for (const std::size_t place : std::views::reverse(places))
      object.stable_erase(object.begin() + place);
    return;
  }
  if (places.size() == object.size()) {
    object.clear();
    return;
  }
  JsonObject kept(object.storage());
  kept.reserve(object.size() - places.size());
  auto gone = places.begin();
  std::size_t at = 0;
  for (auto& member : object) {
    if (gone != places.end() && *gone == at)
      ++gone;
    else
      kept.emplace(member.key(), std::move(member.value()));
    ++at;
  }
  object = std::move(kept);
}

}  // namespace muster::api
