#include "workload/allowed.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "api/reading.h"
#include "api/validation/group_rules.h"

namespace muster::workload {
namespace {

using api::FieldErrors;
using api::FieldPath;
using api::GroupRules;
using api::Json;

void forbid_policy(PolicyKind policy, const Allowed& allowed, const FieldPath& path,
                   FieldErrors& errors) {
  if (!allowed.allows(policy))
    errors.forbidden(path, fmt::format("{} scheduling policy is not supported by this controller",
                                       policy == PolicyKind::Gang ? "gang" : "basic"));
}

void forbid_mode(Disruption mode, const Allowed& allowed, const FieldPath& path,
                 FieldErrors& errors) {
  if (!allowed.allows(mode))
    errors.forbidden(path,
                     fmt::format("the disruptionMode `{}` is not supported by this controller",
                                 mode == Disruption::All ? "all" : "single"));
}

}  // namespace

bool Allowed::allows(PolicyKind policy) const {
  return std::ranges::find(policies, policy) != policies.end();
}

bool Allowed::allows(Disruption mode) const {
  return std::ranges::find(disruption_modes, mode) != disruption_modes.end();
}

void check_allowed(const Config& config, const Allowed& allowed, const FieldPath& policy_path,
                   const FieldPath& mode_path, FieldErrors& errors) {
  if (config.policy)
    forbid_policy(config.is_gang() ? PolicyKind::Gang : PolicyKind::Basic, allowed, policy_path,
                  errors);
  if (config.disruption) forbid_mode(*config.disruption, allowed, mode_path, errors);
}

void validate_scheduling_policy(const Json* block, Level level, const Allowed& allowed,
                                const FieldPath& path, FieldErrors& errors) {
  if (block == nullptr) return;
  const api::Gates gates;
  GroupRules rules(GroupRules::Write::Create, gates, errors);
  rules.policy_block({.now = block}, path, level == Level::PodGroup ? "minCount" : "minGroupCount");
  if (api::find_set(*block, "basic") != nullptr)
    forbid_policy(PolicyKind::Basic, allowed, path, errors);
  if (api::find_set(*block, "gang") != nullptr)
    forbid_policy(PolicyKind::Gang, allowed, path, errors);
}

void validate_scheduling_constraints(const Json* block, const FieldPath& path,
                                     FieldErrors& errors) {
  if (block == nullptr) return;
  const api::Gates gates;
  GroupRules(GroupRules::Write::Create, gates, errors).constraints_block(*block, path);
}

void validate_disruption_mode(const Json* block, const Allowed& allowed, const FieldPath& path,
                              FieldErrors& errors) {
  if (block == nullptr) return;
  const api::Gates gates;
  GroupRules rules(GroupRules::Write::Create, gates, errors);
  rules.disruption_block({.now = block}, path);
  if (api::find_set(*block, "single") != nullptr)
    forbid_mode(Disruption::Single, allowed, path, errors);
  if (api::find_set(*block, "all") != nullptr) forbid_mode(Disruption::All, allowed, path, errors);
}

void validate_resource_claims(const Json* list, const FieldPath& path, FieldErrors& errors) {
  if (list == nullptr || !list->is_array()) return;
  const api::Gates gates;
  GroupRules(GroupRules::Write::Create, gates, errors).claims_block(list->get_array(), path);
}

}  // namespace muster::workload
