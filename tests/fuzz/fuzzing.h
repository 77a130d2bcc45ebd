#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// What all fuzz targets share. A target calls a function of the product with what the fuzzer made
// up and aborts if what comes back breaks a promise; crashes and sanitizer reports are found
// without asking.
namespace muster::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool promise) {
  if (!promise) std::abort();
}

// Cuts the input at the first zero byte: two texts from one.
inline std::string_view cut(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\0'), rest.size());
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return first;
}

}  // namespace muster::fuzz
