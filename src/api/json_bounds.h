#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json.h"

// What JSON text can hold. The parser refuses the rest, so every other way to make a document keeps
// to it too: whatever we write, we can read.
namespace muster::api {

// Nested lists and objects.
constexpr std::size_t kJsonDepthMax = 100;

// How deeply lists and objects are nested: 0 for a scalar, 1 for {"a":1}.
std::size_t depth_of(const Json& value);

// The text with U+FFFD in place of each byte that is not UTF-8, as Go writes it.
std::string valid_utf8(std::string_view text);

}  // namespace muster::api
