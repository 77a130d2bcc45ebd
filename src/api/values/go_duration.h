#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::api {

// A length of time as Go writes it: "300ms", "10m", "1h30m"; "0" needs no unit. Nullopt for
// anything else, if negative, and for more than 290 years. Cut to our clock's precision.
std::optional<Duration> parse_go_duration(std::string_view text);

// As Go prints it: "15m0s", "1.5s", "300ms". For lengths that are not negative.
std::string print_go_duration(Duration duration);

}  // namespace muster::api
