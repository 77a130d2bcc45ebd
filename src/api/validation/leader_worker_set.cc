#include <string>

#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/pod_template.h"
#include "api/validation/reading.h"

// LeaderWorkerSets, as their own webhooks judge them (controllers.md 5.2).
namespace muster::api::rules {
namespace {

const FieldPath kSpec("spec");

bool is_zero(const Json& holder, std::string_view member) {
  const Json* amount = find_set(holder, member);
  return amount == nullptr || amount_value(*amount) == 0;
}

void validate_rollout(const Json& spec, FieldErrors& errors) {
  const FieldPath strategy = kSpec.child("rolloutStrategy");
  const FieldPath path = strategy.child("rollingUpdateConfiguration");
  const Json& rolling = part_of(part_of(spec, "rolloutStrategy"), "rollingUpdateConfiguration");
  not_negative(rolling, {"partition"}, path, errors);
  for (const std::string_view member : {"maxUnavailable", "maxSurge"})
    if (const Json* amount = find_set(rolling, member)) {
      const FieldPath here = path.child(member);
      validate_amount(*amount, here, errors);
      validate_at_most_all(*amount, here, errors);
    }
  if (is_zero(rolling, "maxUnavailable") && is_zero(rolling, "maxSurge"))
    errors.invalid(path.child("maxUnavailable"), part_of(rolling, "maxUnavailable"),
                   "must not be 0 when `maxSurge` is 0");
}

void validate_subgroups(const Json& group, const FieldPath& path, FieldErrors& errors) {
  const Json* policy = find_set(group, "subGroupPolicy");
  if (policy == nullptr) return;
  const FieldPath here = path.child("subGroupPolicy");
  const FieldPath size_path = here.child("subGroupSize");
  const std::int64_t size = find_integer(group, "size").value_or(1);
  const std::int64_t part = find_integer(*policy, "subGroupSize").value_or(0);
  if (part < 1) {
    errors.invalid(size_path, part, "subGroupSize must be equal or greater than 1");
    return;
  }
  if (size < part)
    errors.invalid(size_path, part, "subGroupSize cannot be larger than size");
  else if (size % part != 0 && (size - 1) % part != 0)
    errors.invalid(size_path, part, "size or size - 1 must be divisible by subGroupSize");
  else if (find_string(*policy, "subGroupPolicyType") == "LeaderExcluded" && (size - 1) % part != 0)
    errors.invalid(size_path, part,
                   "size-1 must be divisible by subGroupSize when using "
                   "LeaderExcluded");
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
  const FieldPath name_path("metadata.name");
  const std::string_view name = find_string(part_of(now, "metadata"), "name");
  errors.invalid_each(name_path, name, check_dns_1035_label(name));
  const Json& spec = part_of(now, "spec");
  not_negative(spec, {"replicas"}, kSpec, errors);
  const FieldPath path = kSpec.child("leaderWorkerTemplate");
  const Json& group = part_of(spec, "leaderWorkerTemplate");
  if (const auto size = find_integer(group, "size"); size && *size < 1)
    errors.invalid(path.child("size"), *size, "size must be equal or greater than 1");
  for (const std::string_view member : {"leaderTemplate", "workerTemplate"})
    if (const Json* pod_template = find_set(group, member))
      validate_pod_template(*pod_template, path.child(member), errors);
  validate_subgroups(group, path, errors);
  validate_rollout(spec, errors);
  if (old == nullptr) return;
  keep_members(group, part_of(part_of(*old, "spec"), "leaderWorkerTemplate"), {"subGroupPolicy"},
               path, errors);
}

}  // namespace muster::api::rules
