#include "api/validation/priority_class.h"

#include <fmt/format.h>

#include "api/reading.h"
#include "api/validation/object_meta.h"

namespace muster::api {
namespace {

constexpr std::int64_t kUserPriorityMax = 1'000'000'000;
constexpr std::string_view kSystemPrefix = "system-";
constexpr std::string_view kPolicies[] = {"PreemptLowerPriority", "Never"};

struct SystemClass {
  std::string_view name;
  std::int64_t value;
};
constexpr SystemClass kSystemClasses[] = {
    {"system-cluster-critical", 2'000'000'000},
    {"system-node-critical", 2'000'001'000},
};

// Why the class may not have its name; empty if it is one of the system's own.
std::string reserved_reason(const Json& document, std::string_view name, std::int64_t value) {
  for (const SystemClass& system : kSystemClasses) {
    if (system.name != name) continue;
    if (system.value != value)
      return fmt::format("value of {} PriorityClass must be {}", name, system.value);
    if (find_true(document, "globalDefault"))
      return fmt::format("globalDefault of {} PriorityClass must be false", name);
    return {};
  }
  return fmt::format("{} is not a known system priority class", name);
}

void validate_policy(const Json& document, FieldErrors& errors) {
  const FieldPath path("preemptionPolicy");
  const std::string_view policy = find_string(document, "preemptionPolicy");
  if (policy.empty())
    errors.required(path);
  else if (policy != kPolicies[0] && policy != kPolicies[1])
    errors.not_supported(path, policy, kPolicies);
}

}  // namespace

FieldErrors validate_priority_class(const Json& document) {
  FieldErrors errors;
  validate_object_meta(document, {.namespaced = false}, errors);
  const Json* metadata = find(document, "metadata");
  const std::string_view name = metadata == nullptr ? "" : find_string(*metadata, "name");
  const std::int64_t value = find_integer(document, "value").value_or(0);
  if (name.starts_with(kSystemPrefix)) {
    if (const std::string reason = reserved_reason(document, name, value); !reason.empty())
      errors.forbidden(
          FieldPath("metadata.name"),
          fmt::format("priority class names with '{}' prefix are reserved for system use "
                      "only. error: {}",
                      kSystemPrefix, reason));
  } else if (value > kUserPriorityMax) {
    errors.forbidden(
        FieldPath("value"),
        fmt::format("maximum allowed value of a user defined priority is {}", kUserPriorityMax));
  }
  validate_policy(document, errors);
  return errors;
}

FieldErrors validate_priority_class_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  if (find_integer(now, "value").value_or(0) != find_integer(old, "value").value_or(0))
    errors.forbidden(FieldPath("value"), "may not be changed in an update.");
  const std::string_view policy = find_string(now, "preemptionPolicy");
  if (policy != find_string(old, "preemptionPolicy"))
    errors.invalid(FieldPath("preemptionPolicy"), policy, "field is immutable");
  return errors;
}

}  // namespace muster::api
