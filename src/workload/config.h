#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/json.h"

// How a group is to be scheduled, in one form for groups of pods (leaves) and groups of groups
// (composites). The API has two families of building blocks; the mappers below read either.
namespace muster::workload {

struct Basic {
  friend bool operator==(const Basic&, const Basic&) = default;
};
struct Gang {
  // Pods of a leaf (minCount), child groups of a composite (minGroupCount). Unset: a callback of
  // the item has to fill it in.
  std::optional<std::int32_t> minimum = {};
  friend bool operator==(const Gang&, const Gang&) = default;
};
using Policy = std::variant<Basic, Gang>;

enum class Disruption : std::uint8_t { Single, All };

// A resource claim that all pods of a leaf share.
struct Claim {
  enum class Source : std::uint8_t { Claim, Template };
  std::string name = {};
  Source source = Source::Claim;
  std::string source_name = {};  // of the ResourceClaim or ResourceClaimTemplate
  friend bool operator==(const Claim&, const Claim&) = default;
};

// Every member is optional: unset, empty.
struct Config {
  std::optional<Policy> policy = {};
  std::vector<std::string> topology_keys = {};
  std::optional<Disruption> disruption = {};
  std::vector<Claim> claims = {};  // leaves only
  std::string priority_class = {};
  std::optional<std::int32_t> priority = {};
  std::string preemption_policy = {};

  bool is_gang() const { return policy && std::holds_alternative<Gang>(*policy); }
  bool is_basic() const { return policy && std::holds_alternative<Basic>(*policy); }
  // The gang's parameters, to be changed by callbacks; null unless the policy is a gang.
  Gang* gang() { return policy ? std::get_if<Gang>(&*policy) : nullptr; }
  const Gang* gang() const { return policy ? std::get_if<Gang>(&*policy) : nullptr; }

  friend bool operator==(const Config&, const Config&) = default;
};

// The building blocks as a user wrote them; null where the user said nothing.
struct PodGroupBlocks {
  const api::Json* policy = nullptr;           // WorkloadPodGroupSchedulingPolicy
  const api::Json* constraints = nullptr;      // WorkloadPodGroupSchedulingConstraints
  const api::Json* disruption_mode = nullptr;  // WorkloadPodGroupDisruptionMode
  const api::Json* resource_claims = nullptr;  // list of WorkloadPodGroupResourceClaim
};
struct CompositeGroupBlocks {
  const api::Json* policy = nullptr;           // WorkloadCompositePodGroupSchedulingPolicy
  const api::Json* constraints = nullptr;      // WorkloadCompositePodGroupSchedulingConstraints
  const api::Json* disruption_mode = nullptr;  // WorkloadCompositePodGroupDisruptionMode
};
// The blocks where they have their usual names in one holder: schedulingPolicy,
// schedulingConstraints, disruptionMode, resourceClaims. They refer to `scheduling`.
PodGroupBlocks pod_group_blocks(const api::Json& scheduling);
CompositeGroupBlocks composite_group_blocks(const api::Json& scheduling);

// Copies of what the blocks say. An empty block says nothing, so a default survives it. If a union
// has both members, basic and single win: a server has already refused such a thing.
Config map_pod_group_config(const PodGroupBlocks& blocks);
Config map_composite_group_config(const CompositeGroupBlocks& blocks);

// `defaults` overridden by everything that `user` says, field by field: a policy, a disruption
// mode, a list of topology keys or of claims replaces the default's as a whole.
Config merge(const Config& defaults, const Config& user);

}  // namespace muster::workload
