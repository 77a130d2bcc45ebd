#pragma once

#include <string>
#include <string_view>

namespace muster {

// SHA-1 as 40 hexadecimal digits. For keys that others compute the same way; not for
// security.
std::string sha1_hex(std::string_view text);

}  // namespace muster
