#pragma once

#include <span>
#include <string_view>

#include "api/json.h"
#include "base/result.h"

namespace muster::api {

class Scratch;

// Which parts of a document to read: a member's name, and which parts of its value, or of each item
// if that is a list. A list of these that ends with kTheOthers keeps members that it does not name.
struct Kept {
  std::string_view name;
  std::span<const Kept> below = {};  // empty: all of it
  bool dropped = false;              // named to be left out
};
inline constexpr std::string_view kTheOthers = "*";

// As parse_json(), in `scratch`, and only what is kept; what is left out costs next to nothing.
// Empty: all of it.
Result<Json> parse_kept(Scratch& scratch, std::string_view text, std::span<const Kept> kept,
                        const Limits& limits = kLimits);

}  // namespace muster::api
