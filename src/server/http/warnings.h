#pragma once

#include <span>
#include <string>
#include <vector>

namespace muster::server {

// The values of the Warning headers for these texts: `299 - "text"`, quotes and
// backslashes escaped, what would break a header line left out. Equal texts appear once. If all
// together are more than 4096 characters, each is cut to 256, and those beyond the first 4096
// characters are left out.
std::vector<std::string> warning_headers(std::span<const std::string> warnings);

}  // namespace muster::server
