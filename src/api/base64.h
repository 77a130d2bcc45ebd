#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::api {

// Standard base64 with padding, as JSON holds bytes.
std::string base64_encode(std::string_view bytes);
// Line breaks are skipped, as in Go; nullopt if anything else is out of place.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace muster::api
