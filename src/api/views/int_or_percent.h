#pragma once

#include <cstdint>
#include <string_view>

#include "api/json.h"

namespace muster::api {

// An IntOrString that counts replicas: a number, or a percentage of a whole.
struct IntOrPercent {
  std::int64_t value = 0;
  bool percent = false;

  std::int64_t of_rounded_up(std::int64_t whole) const;
  std::int64_t of_rounded_down(std::int64_t whole) const;
};

// `otherwise` if it is missing or malformed.
IntOrPercent read_int_or_percent(const Json& holder, std::string_view member,
                                 IntOrPercent otherwise);

}  // namespace muster::api
