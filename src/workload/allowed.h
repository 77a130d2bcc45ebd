#pragma once

#include <cstdint>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"
#include "workload/config.h"

// What a controller supports, and rules for the blocks in its API. The rules of a block's shape are
// the server's own (api/validation).
namespace muster::workload {

enum class PolicyKind : std::uint8_t { Basic, Gang };

// What it does not name is refused, so that an option of a later release does not slip into a
// controller that does not know it.
struct Allowed {
  std::vector<PolicyKind> policies = {};
  std::vector<Disruption> disruption_modes = {};
  // Pods that are scheduled one by one, yet disrupted only together. Kubernetes' own controllers
  // refuse it for groups of pods.
  bool basic_disrupted_together = false;

  bool allows(PolicyKind policy) const;
  bool allows(Disruption mode) const;
};

// Forbidden for each choice of the config that is not allowed.
void check_allowed(const Config& config, const Allowed& allowed, const api::FieldPath& policy_path,
                   const api::FieldPath& mode_path, api::FieldErrors& errors);

// For the validation of a controller's own API, one block each, null where the user said nothing:
// the shape of the block, and whether the controller supports what it chooses.
enum class Level : std::uint8_t { PodGroup, CompositePodGroup };
void validate_scheduling_policy(const api::Json* block, Level level, const Allowed& allowed,
                                const api::FieldPath& path, api::FieldErrors& errors);
void validate_scheduling_constraints(const api::Json* block, const api::FieldPath& path,
                                     api::FieldErrors& errors);
void validate_disruption_mode(const api::Json* block, const Allowed& allowed,
                              const api::FieldPath& path, api::FieldErrors& errors);
void validate_resource_claims(const api::Json* list, const api::FieldPath& path,
                              api::FieldErrors& errors);

}  // namespace muster::workload
