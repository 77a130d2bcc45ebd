#pragma once

#include <string_view>

#include "api/values/names.h"

namespace muster::api {

enum class IpFamily : unsigned char { None, V4, V6 };

// Which family a text such as "10.9.8.7" or "2001:db8::ffff" belongs to; None if invalid.
IpFamily ip_family(std::string_view address);
// The same for "10.9.8.0/24".
IpFamily cidr_family(std::string_view cidr);

// What is wrong with an address that others must be able to reach: it may not be the host's own.
Messages check_common_ip(std::string_view address);

inline constexpr std::string_view kBadIp =
    "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
inline constexpr std::string_view kBadCidr =
    "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

}  // namespace muster::api
