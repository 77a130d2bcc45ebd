#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "api/validation/common_rules.h"
#include "api/validation/reading.h"
#include "api/workloads/job_rules.h"

// When a Job gives up, and when it has had enough success.
namespace muster::api {
namespace {

constexpr std::size_t kRulesMax = 20;
constexpr std::size_t kExitCodesMax = 255;
constexpr std::size_t kPatternsMax = 20;
constexpr std::size_t kIndexesTextMax = 64 * 1024;
constexpr std::string_view kActions[] = {"Count", "FailIndex", "FailJob", "Ignore"};
constexpr std::string_view kOperators[] = {"In", "NotIn"};
constexpr std::string_view kStatuses[] = {"True", "False", "Unknown"};

void validate_exit_codes(const Json& rule, const Json& spec, const FieldPath& path,
                         FieldErrors& errors) {
  validate_required_word(rule, "operator", kOperators, path, errors);
  if (const auto name = find_string(rule, "containerName"); !name.empty()) {
    const Json& pod = part_of(part_of(spec, "template"), "spec");
    bool found = false;
    for (const std::string_view list : {"containers", "initContainers"})
      for (const Json& container : elements(pod, list))
        found |= find_string(container, "name") == name;
    if (!found)
      errors.invalid(path.child("containerName"), name,
                     "must be one of the container or initContainer names in the pod template");
  }
  const FieldPath values_path = path.child("values");
  const JsonArray& values = elements(rule, "values");
  if (values.empty()) errors.invalid(values_path, Json(values), "at least one value is required");
  if (values.size() > kExitCodesMax) errors.too_many(values_path, values.size(), kExitCodesMax);
  std::optional<std::int64_t> last;
  bool ordered = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t code = integer_of(values[i]).value_or(0);
    if (code == 0 && find_string(rule, "operator") == "In")
      errors.invalid(values_path.index(i), code, "must not be 0 for the In operator");
    if (last && *last == code) errors.duplicate(values_path.index(i), code);
    ordered = ordered && (!last || *last <= code);
    last = code;
  }
  if (!ordered) errors.invalid(values_path, Json(values), "must be ordered");
}

void validate_patterns(const JsonArray& patterns, const FieldPath& path, FieldErrors& errors) {
  if (patterns.size() > kPatternsMax) errors.too_many(path, patterns.size(), kPatternsMax);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const FieldPath here = path.index(i);
    const std::string_view type = find_string(patterns[i], "type");
    errors.invalid_each(here.child("type"), type, check_qualified_name(type));
    validate_required_word(patterns[i], "status", kStatuses, here, errors);
  }
}

void validate_failure_rule(const Json& rule, const Json& spec, const FieldPath& path,
                           FieldErrors& errors) {
  const std::string_view action = find_string(rule, "action");
  validate_required_word(rule, "action", kActions, path, errors);
  if (action == "FailIndex" && find_set(spec, "backoffLimitPerIndex") == nullptr)
    errors.invalid(path.child("action"), action, "requires the backoffLimitPerIndex to be set");
  const Json* codes = find_set(rule, "onExitCodes");
  const JsonArray& patterns = elements(rule, "onPodConditions");
  if (codes != nullptr && !patterns.empty())
    errors.invalid(path, rule, "specifying both OnExitCodes and OnPodConditions is not supported");
  if (codes == nullptr && patterns.empty())
    errors.invalid(path, rule, "specifying one of OnExitCodes and OnPodConditions is required");
  if (codes != nullptr) validate_exit_codes(*codes, spec, path.child("onExitCodes"), errors);
  validate_patterns(patterns, path.child("onPodConditions"), errors);
}

// How many indexes "1,3-5,7" names, if it names them in order and all below `completions`.
std::optional<std::int64_t> count_indexes(std::string_view text, std::int64_t completions) {
  const auto number = [&text]() -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || text.starts_with('+')) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  };
  std::int64_t count = 0;
  std::int64_t last = -1;
  while (!text.empty()) {
    const auto first = number();
    if (!first || *first <= last) return std::nullopt;
    last = *first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      const auto end = number();
      if (!end || *end <= last) return std::nullopt;
      last = *end;
    }
    if (last >= completions) return std::nullopt;
    count += last - *first + 1;
    if (text.empty()) break;
    if (!text.starts_with(',') || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return count;
}

void validate_success_rule(const Json& rule, std::int64_t completions, const FieldPath& path,
                           FieldErrors& errors) {
  const Json* indexes = find_set(rule, "succeededIndexes");
  const auto count = find_integer(rule, "succeededCount");
  if (indexes == nullptr && !count)
    errors.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  std::optional<std::int64_t> listed;
  if (indexes != nullptr) {
    const FieldPath here = path.child("succeededIndexes");
    const std::string_view text = text_of(*indexes);
    if (text.size() > kIndexesTextMax) errors.too_long(here, kIndexesTextMax);
    listed = count_indexes(text, completions);
    if (!listed)
      errors.invalid(here, text,
                     fmt::format("error parsing succeededIndexes: must be ascending indexes and "
                                 "intervals below {}",
                                 completions));
  }
  if (!count) return;
  const FieldPath here = path.child("succeededCount");
  if (*count < 0) errors.invalid(here, *count, "must be greater than or equal to 0");
  if (*count > completions)
    errors.invalid(here, *count,
                   fmt::format("must be less than or equal to {} (the number of specified "
                               "completions)",
                               completions));
  if (listed && *count > *listed)
    errors.invalid(here, *count,
                   fmt::format("must be less than or equal to {} (the number of indexes in the "
                               "specified succeededIndexes field)",
                               *listed));
}

}  // namespace

void validate_pod_failure_policy(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const Json* policy = find_set(spec, "podFailurePolicy");
  if (policy == nullptr) return;
  const FieldPath here = path.child("podFailurePolicy");
  const FieldPath rules_path = here.child("rules");
  const JsonArray& rules = elements(*policy, "rules");
  if (rules.size() > kRulesMax) errors.too_many(rules_path, rules.size(), kRulesMax);
  for (std::size_t i = 0; i < rules.size(); ++i)
    validate_failure_rule(rules[i], spec, rules_path.index(i), errors);
}

void validate_success_policy(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const Json* policy = find_set(spec, "successPolicy");
  if (policy == nullptr) return;
  const FieldPath here = path.child("successPolicy");
  if (find_string(spec, "completionMode") != "Indexed") {
    errors.invalid(here, *policy, "requires indexed completion mode");
    return;
  }
  const FieldPath rules_path = here.child("rules");
  const JsonArray& rules = elements(*policy, "rules");
  if (rules.empty())
    errors.required(rules_path,
                    "at least one rules must be specified when the successPolicy is specified");
  if (rules.size() > kRulesMax) errors.too_many(rules_path, rules.size(), kRulesMax);
  const std::int64_t completions = find_integer(spec, "completions").value_or(0);
  for (std::size_t i = 0; i < rules.size(); ++i)
    validate_success_rule(rules[i], completions, rules_path.index(i), errors);
}

}  // namespace muster::api
