#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "server/access/policy_rule.h"

namespace muster::server {

struct DistinctRules {
  std::vector<const PolicyRule*> rules = {};  // each once, in the order they were given
  bool more = false;                          // there are others
  std::size_t comparisons = 0;                // of two rules, to find that out
};

// The first `listed_max` that differ from all before them. Of a rule about paths only what it says
// about paths counts.
DistinctRules distinct_rules(std::span<const PolicyRule* const> rules, std::size_t listed_max);

}  // namespace muster::server
