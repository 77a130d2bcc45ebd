#include "workload/config.h"

#include <limits>
#include <string_view>
#include <utility>

#include "api/reading.h"

namespace muster::workload {
namespace {

using api::Json;

const Json* set_member(const Json* block, std::string_view name) {
  return block == nullptr ? nullptr : api::find_set(*block, name);
}

std::optional<std::int32_t> read_count(const Json& gang, std::string_view member) {
  const auto count = api::find_integer(gang, member);
  using Limits = std::numeric_limits<std::int32_t>;
  if (!count || *count < Limits::min() || *count > Limits::max()) return std::nullopt;
  return static_cast<std::int32_t>(*count);
}

std::optional<Policy> map_policy(const Json* block, std::string_view minimum) {
  if (set_member(block, "basic") != nullptr) return Basic{};
  const Json* gang = set_member(block, "gang");
  if (gang == nullptr) return std::nullopt;
  return Gang{.minimum = read_count(*gang, minimum)};
}

std::vector<std::string> map_topology(const Json* block) {
  std::vector<std::string> keys;
  if (block == nullptr) return keys;
  for (const Json& constraint : api::elements(*block, "topology"))
    keys.emplace_back(api::find_string(constraint, "key"));
  return keys;
}

std::optional<Disruption> map_disruption(const Json* block) {
  if (set_member(block, "single") != nullptr) return Disruption::Single;
  if (set_member(block, "all") != nullptr) return Disruption::All;
  return std::nullopt;
}

Claim map_claim(const Json& claim) {
  Claim out{.name = std::string(api::find_string(claim, "name"))};
  const bool from_template = api::find_set(claim, "resourceClaimName") == nullptr;
  out.source = from_template ? Claim::Source::Template : Claim::Source::Claim;
  out.source_name =
      api::find_string(claim, from_template ? "resourceClaimTemplateName" : "resourceClaimName");
  return out;
}

std::vector<Claim> map_claims(const Json* list) {
  std::vector<Claim> claims;
  if (list == nullptr || !list->is_array()) return claims;
  for (const Json& claim : list->get_array()) claims.push_back(map_claim(claim));
  return claims;
}

}  // namespace

PodGroupBlocks pod_group_blocks(const Json& scheduling) {
  return {.policy = api::find_set(scheduling, "schedulingPolicy"),
          .constraints = api::find_set(scheduling, "schedulingConstraints"),
          .disruption_mode = api::find_set(scheduling, "disruptionMode"),
          .resource_claims = api::find_set(scheduling, "resourceClaims")};
}

CompositeGroupBlocks composite_group_blocks(const Json& scheduling) {
  return {.policy = api::find_set(scheduling, "schedulingPolicy"),
          .constraints = api::find_set(scheduling, "schedulingConstraints"),
          .disruption_mode = api::find_set(scheduling, "disruptionMode")};
}

Config map_pod_group_config(const PodGroupBlocks& blocks) {
  Config config;
  config.policy = map_policy(blocks.policy, "minCount");
  config.topology_keys = map_topology(blocks.constraints);
  config.disruption = map_disruption(blocks.disruption_mode);
  config.claims = map_claims(blocks.resource_claims);
  return config;
}

Config map_composite_group_config(const CompositeGroupBlocks& blocks) {
  Config config;
  config.policy = map_policy(blocks.policy, "minGroupCount");
  config.topology_keys = map_topology(blocks.constraints);
  config.disruption = map_disruption(blocks.disruption_mode);
  return config;
}

Config merge(const Config& defaults, const Config& user) {
  Config config = defaults;
  if (user.policy) config.policy = user.policy;
  if (!user.topology_keys.empty()) config.topology_keys = user.topology_keys;
  if (user.disruption) config.disruption = user.disruption;
  if (!user.claims.empty()) config.claims = user.claims;
  if (!user.priority_class.empty()) config.priority_class = user.priority_class;
  if (user.priority) config.priority = user.priority;
  if (!user.preemption_policy.empty()) config.preemption_policy = user.preemption_policy;
  return config;
}

}  // namespace muster::workload
