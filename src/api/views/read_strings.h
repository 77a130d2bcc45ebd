#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"

namespace muster::api {

// The texts among the elements of a list, in its order.
inline std::vector<std::string> read_strings(const Json& value, std::string_view member) {
  std::vector<std::string> strings;
  for (const Json& entry : elements(value, member))
    if (entry.is_string()) strings.emplace_back(text_of(entry));
  return strings;
}

inline std::vector<std::string> read_sorted_strings(const Json& value, std::string_view member) {
  std::vector<std::string> strings = read_strings(value, member);
  std::ranges::sort(strings);
  return strings;
}

}  // namespace muster::api
