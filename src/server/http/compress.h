#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::server {

// The gzip form of `text`, quickly rather than tightly made; nullopt if zlib has no memory.
std::optional<std::string> gzip(std::string_view text);

}  // namespace muster::server
