#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace muster::api {

// One entry of status.conditions, without its times.
struct Condition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::int64_t observed_generation = 0;  // 0: not given
};

// The conditions under status, in order.
std::vector<Condition> read_conditions(const Json& document);
// The condition of that type, or null.
const Condition* lookup(const std::vector<Condition>& conditions, std::string_view type);

}  // namespace muster::api
