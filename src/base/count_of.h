#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// "racks"; a word that ends in s stays as it is.
inline std::string plural_of(std::string_view noun) {
  return fmt::format("{}{}", noun, noun.ends_with('s') ? "" : "s");
}

// "1 pod", "3 pods".
inline std::string count_of(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", count, count == 1 ? std::string(noun) : plural_of(noun));
}

}  // namespace muster
