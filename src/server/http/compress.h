#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::server {

// `text` as gzip, compressed for speed rather than size; nullopt if zlib has no memory.
std::optional<std::string> gzip(std::string_view text);

}  // namespace muster::server
