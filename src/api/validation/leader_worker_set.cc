#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/lws_scheduling.h"
#include "api/validation/pod_template.h"

// LeaderWorkerSets, as their own webhooks judge them.
namespace muster::api::rules {
namespace {

const FieldPath kSpec("spec");
// As the webhook spells it.
constexpr std::string_view kSubGroupSize = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize";
constexpr std::string_view kSubGroupTopology =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

// An amount of a rollout in groups; percentages are rounded down, or up.
enum class Round : std::uint8_t { Down, Up };
std::int64_t groups_of(const Json& rolling, std::string_view member, std::int64_t replicas,
                       Round round) {
  const Json* amount = find_set(rolling, member);
  if (amount == nullptr) return 0;
  if (const auto number = integer_of(*amount)) return *number;
  const std::int64_t hundredfold = amount_value(*amount) * replicas;
  return (hundredfold + (round == Round::Up ? 99 : 0)) / 100;
}

void validate_rollout(const Json& spec, FieldErrors& errors) {
  const FieldPath strategy = kSpec.child("rolloutStrategy");
  const FieldPath path = strategy.child("rollingUpdateConfiguration");
  const Json& rolling = part_of(part_of(spec, "rolloutStrategy"), "rollingUpdateConfiguration");
  for (const std::string_view member : {"maxUnavailable", "maxSurge"})
    if (const Json* amount = find_set(rolling, member)) {
      const FieldPath here = path.child(member);
      validate_amount(*amount, here, errors);
      validate_at_most_all(*amount, here, errors);
    }
  not_negative(rolling, {"partition"}, path, errors);
  const std::int64_t replicas = find_integer(spec, "replicas").value_or(1);
  if (replicas != 0 && groups_of(rolling, "maxUnavailable", replicas, Round::Down) == 0 &&
      groups_of(rolling, "maxSurge", replicas, Round::Up) == 0)
    errors.invalid(path.child("maxUnavailable"), part_of(rolling, "maxUnavailable"),
                   "must not be 0 when `maxSurge` is 0");
}

void validate_subgroups(const Json& set, FieldErrors& errors) {
  const Json& group = part_of(part_of(set, "spec"), "leaderWorkerTemplate");
  const Json* policy = find_set(group, "subGroupPolicy");
  if (policy == nullptr) {
    const Json& annotations = part_of(part_of(set, "metadata"), "annotations");
    const FieldPath path("metadata.annotations");
    if (const Json* topology = find_set(annotations, kSubGroupTopology))
      errors.invalid(path.child(kSubGroupTopology), text_of(*topology),
                     "cannot have subgroup-exclusive-topology without subGroupSize set");
    return;
  }
  const FieldPath path(kSubGroupSize);
  const std::int64_t size = find_integer(group, "size").value_or(1);
  const std::int64_t part = find_integer(*policy, "subGroupSize").value_or(0);
  if (part < 1) return errors.invalid(path, part, "subGroupSize must be equal or greater than 1");
  if (size % part != 0 && (size - 1) % part != 0)
    errors.invalid(path, part, "size or size - 1 must be divisible by subGroupSize");
  if (size < part) errors.invalid(path, part, "subGroupSize cannot be larger than size");
  if (find_string(*policy, "subGroupPolicyType") == "LeaderExcluded" && (size - 1) % part != 0)
    errors.invalid(path, part,
                   "size-1 must be divisible by subGroupSize when using LeaderExcluded");
}

void validate_subgroups_update(const Json& now, const Json& old, FieldErrors& errors) {
  const Json* policy = find_set(now, "subGroupPolicy");
  const Json* before = find_set(old, "subGroupPolicy");
  const auto size_of = [](const Json& each) {
    return find_integer(each, "subGroupSize").value_or(0);
  };
  const FieldPath path(kSubGroupSize);
  if (policy == nullptr && before == nullptr) return;
  if (before == nullptr)
    errors.invalid(path, size_of(*policy),
                   "cannot enable subGroupSize after the lws is already created");
  else if (policy == nullptr)
    errors.invalid(path, size_of(*before), "cannot remove subGroupSize after enabled");
  else if (size_of(*policy) != size_of(*before))
    errors.invalid(path, size_of(*policy), kImmutableField);
  else
    validate_immutable_members(*policy, *before, {"subGroupPolicyType"},
                               FieldPath("spec.leaderWorkerTemplate.SubGroupPolicy"), errors);
}

}  // namespace

void default_leader_worker_set(JsonObject& set) {
  JsonObject& spec = ensure_object(set, "spec");
  JsonObject& group = ensure_object(spec, "leaderWorkerTemplate");
  for (const std::string_view member : {"leaderTemplate", "workerTemplate"})
    default_pod_template(group, member);
  // The old word for it.
  if (const Json* policy = group.if_contains("restartPolicy");
      policy != nullptr && text_of(*policy) == "Default")
    group["restartPolicy"] = "None";
  JsonObject& network = ensure_object(spec, "networkConfig");
  if (network.if_contains("subdomainPolicy") == nullptr) network["subdomainPolicy"] = "Shared";
  JsonObject& rolling =
      ensure_object(ensure_object(spec, "rolloutStrategy"), "rollingUpdateConfiguration");
  for (const auto& [member, amount] :
       {std::pair{"partition", 0}, std::pair{"maxUnavailable", 1}, std::pair{"maxSurge", 0}})
    if (rolling.if_contains(member) == nullptr) rolling[member] = std::int64_t{amount};
}

void validate_leader_worker_set(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::int64_t kPodsMax = std::numeric_limits<std::int32_t>::max();
  const FieldPath name_path("metadata.name");
  const std::string_view name = find_string(part_of(now, "metadata"), "name");
  errors.invalid_each(name_path, name, check_dns_1035_label(name));
  const Json& spec = part_of(now, "spec");
  const std::int64_t replicas = find_integer(spec, "replicas").value_or(1);
  if (replicas < 0)
    errors.invalid(kSpec.child("replicas"), replicas, "replicas must be equal or greater than 0");
  const FieldPath path = kSpec.child("leaderWorkerTemplate");
  const Json& group = part_of(spec, "leaderWorkerTemplate");
  const std::int64_t size = find_integer(group, "size").value_or(1);
  if (size < 1) errors.invalid(path.child("size"), size, "size must be equal or greater than 1");
  if (replicas > 0 && size > kPodsMax / replicas)
    errors.invalid(
        kSpec.child("replicas"), replicas,
        fmt::format("the product of replicas and worker replicas must not exceed {}", kPodsMax));
  std::set<std::string_view> claims;
  for (const Json& claim : elements(group, "volumeClaimTemplates"))
    claims.insert(find_string(part_of(claim, "metadata"), "name"));
  for (const std::string_view member : {"leaderTemplate", "workerTemplate"})
    if (const Json* pod_template = find_set(group, member))
      validate_pod_template(with_claim_volumes(*pod_template, claims), path.child(member), errors);
  validate_rollout(spec, errors);
  validate_subgroups(now, errors);
  validate_lws_scheduling(now, old, {}, errors);
  if (old != nullptr)
    validate_subgroups_update(group, part_of(part_of(*old, "spec"), "leaderWorkerTemplate"),
                              errors);
}

}  // namespace muster::api::rules
