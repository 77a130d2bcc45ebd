#include "server/access/distinct_rules.h"

#include <set>
#include <tuple>

namespace muster::server {
namespace {

bool is_less(const PolicyRule& a, const PolicyRule& b) {
  if (!a.non_resource_urls.empty() || !b.non_resource_urls.empty())
    return std::tie(a.non_resource_urls, a.verbs) < std::tie(b.non_resource_urls, b.verbs);
  return std::tie(a.verbs, a.api_groups, a.resources, a.resource_names) <
         std::tie(b.verbs, b.api_groups, b.resources, b.resource_names);
}

}  // namespace

// Sorted, not hashed: who writes rules could make thousands of one hash.
DistinctRules distinct_rules(std::span<const PolicyRule* const> rules, std::size_t listed_max) {
  DistinctRules out;
  const auto less = [&](const PolicyRule* a, const PolicyRule* b) {
    ++out.comparisons;
    return is_less(*a, *b);
  };
  std::set<const PolicyRule*, decltype(less)> known(less);
  for (const PolicyRule* rule : rules) {
    if (!known.insert(rule).second) continue;
    if (out.rules.size() == listed_max) {
      out.more = true;
      break;
    }
    out.rules.push_back(rule);
  }
  return out;
}

}  // namespace muster::server
