#pragma once

#include <string_view>

namespace muster::api {

// Whether the IANA time zone database knows the name: "Europe/Berlin", "UTC". Case matters.
bool is_time_zone(std::string_view name);

}  // namespace muster::api
