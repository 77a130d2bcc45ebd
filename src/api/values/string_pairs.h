#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::api {

// Labels or annotations: sorted by key, each key once.
using StringPairs = std::vector<std::pair<std::string, std::string>>;

// The value of `key`, or null.
inline const std::string* lookup(const StringPairs& pairs, std::string_view key) {
  const auto at = std::ranges::lower_bound(
      pairs, key, {}, [](const auto& pair) -> std::string_view { return pair.first; });
  return at != pairs.end() && at->first == key ? &at->second : nullptr;
}

}  // namespace muster::api
