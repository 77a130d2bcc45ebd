#include "api/same_text.h"

#include <algorithm>

namespace muster::api {

bool same_text(const Json& a, const Json& b) {
  if (a.kind() != b.kind()) return false;
  if (const JsonObject* const members = a.if_object())
    return std::ranges::equal(*members, b.get_object(), [](const auto& mine, const auto& other) {
      return mine.key() == other.key() && same_text(mine.value(), other.value());
    });
  if (const JsonArray* const items = a.if_array())
    return std::ranges::equal(*items, b.get_array(), same_text);
  return a == b;
}

}  // namespace muster::api
