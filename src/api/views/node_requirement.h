#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace muster::api {

enum class SelectorOperator : std::uint8_t { In, NotIn, Exists, DoesNotExist, Gt, Lt, Invalid };

// One condition on labels, of a node selector or a label selector.
struct NodeRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::Invalid;
  std::vector<std::string> values;
  friend auto operator<=>(const NodeRequirement&, const NodeRequirement&) = default;
};

SelectorOperator selector_operator(std::string_view name);
std::vector<NodeRequirement> read_requirements(const Json& term, std::string_view member);

}  // namespace muster::api
