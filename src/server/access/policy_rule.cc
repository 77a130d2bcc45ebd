#include "server/access/policy_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace muster::server {
namespace {

using api::Json;

constexpr std::string_view kAll = "*";

bool has(const std::vector<std::string>& list, std::string_view wanted) {
  return std::ranges::find(list, wanted) != list.end();
}

bool has_or_all(const std::vector<std::string>& list, std::string_view wanted) {
  return has(list, kAll) || has(list, wanted);
}

// `pods`, `pods/status`, `*/scale` or everything. Plain `pods` does not cover its subresources.
bool names_resource(const PolicyRule& rule, const Attributes& asked) {
  if (has(rule.resources, kAll)) return true;
  if (asked.subresource.empty()) return has(rule.resources, asked.resource);
  return has(rule.resources, fmt::format("{}/{}", asked.resource, asked.subresource)) ||
         has(rule.resources, fmt::format("*/{}", asked.subresource));
}

// `*`, the path itself, or a beginning: `/api/*`.
bool names_path(std::string_view pattern, std::string_view path) {
  if (pattern == kAll || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::vector<std::string> texts(const Json& value, std::string_view member) {
  std::vector<std::string> out;
  if (const api::JsonArray* list = api::find_array(value, member))
    for (const Json& item : *list)
      if (item.is_string()) out.emplace_back(std::string_view(item.get_string()));
  return out;
}

}  // namespace

std::vector<PolicyRule> read_rules(const Json& role) {
  std::vector<PolicyRule> out;
  const api::JsonArray* const rules = api::find_array(role, "rules");
  if (rules == nullptr) return out;
  for (const Json& rule : *rules)
    out.push_back({.verbs = texts(rule, "verbs"),
                   .api_groups = texts(rule, "apiGroups"),
                   .resources = texts(rule, "resources"),
                   .resource_names = texts(rule, "resourceNames"),
                   .non_resource_urls = texts(rule, "nonResourceURLs")});
  return out;
}

bool covers(const PolicyRule& rule, const Attributes& asked) {
  if (!has_or_all(rule.verbs, asked.verb)) return false;
  if (!asked.is_resource)
    return std::ranges::any_of(rule.non_resource_urls, [&](const std::string& pattern) {
      return names_path(pattern, asked.path);
    });
  return has_or_all(rule.api_groups, asked.group) && names_resource(rule, asked) &&
         (rule.resource_names.empty() || has(rule.resource_names, asked.name));
}

}  // namespace muster::server
