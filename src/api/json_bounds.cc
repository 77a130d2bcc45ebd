#include "api/json_bounds.h"

#include <simdjson.h>

#include <algorithm>

namespace muster::api {

std::size_t depth_of(const Json& value) {
  std::size_t below = 0;
  if (const JsonObject* object = value.if_object()) {
    for (const auto& member : *object) below = std::max(below, depth_of(member.value()));
  } else if (const JsonArray* array = value.if_array()) {
    for (const Json& item : *array) below = std::max(below, depth_of(item));
  } else {
    return 0;
  }
  return below + 1;
}

std::string valid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length <= text.size() && simdjson::validate_utf8(text.data(), length)) {
      out += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace muster::api
