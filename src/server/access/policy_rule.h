#pragma once

#include <string>
#include <vector>

#include "api/json.h"
#include "server/access/attributes.h"

namespace muster::server {

// One rule of a Role or ClusterRole: all its verbs on all its resources, or paths.
struct PolicyRule {
  std::vector<std::string> verbs = {};
  std::vector<std::string> api_groups = {};
  std::vector<std::string> resources = {};
  std::vector<std::string> resource_names = {};
  std::vector<std::string> non_resource_urls = {};

  bool operator==(const PolicyRule&) const = default;
};

// What the rules of a Role or ClusterRole say.
std::vector<PolicyRule> read_rules(const api::Json& role);

bool covers(const PolicyRule& rule, const Attributes& asked);

}  // namespace muster::server
