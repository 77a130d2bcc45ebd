#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/job_rules.h"
#include "base/result.h"

// When a Job gives up, and when it has had enough success.
namespace muster::api {
namespace {

constexpr std::size_t kRulesMax = 20;
constexpr std::size_t kExitCodesMax = 255;
constexpr std::size_t kPatternsMax = 20;
constexpr std::size_t kIndexesTextMax = std::size_t{64} * 1024;
constexpr std::string_view kActions[] = {"Count", "FailIndex", "FailJob", "Ignore"};
constexpr std::string_view kOperators[] = {"In", "NotIn"};
constexpr std::string_view kStatuses[] = {"False", "True", "Unknown"};

// A word of a closed set; if it is missing, the error lists what there is.
void validate_listed_word(const Json& holder, std::string_view member,
                          std::span<const std::string_view> allowed, const FieldPath& path,
                          FieldErrors& errors) {
  const std::string_view word = find_string(holder, member);
  if (word.empty())
    errors.required(path.child(member),
                    fmt::format(R"(valid values: ["{}"])", fmt::join(allowed, R"(" ")")));
  else if (std::ranges::find(allowed, word) == allowed.end())
    errors.not_supported(path.child(member), word, allowed);
}

// The names of the containers that a Job's pods have.
std::set<std::string_view> container_names(const Json& spec) {
  const Json& pod = part_of(part_of(spec, "template"), "spec");
  std::set<std::string_view> names;
  for (const std::string_view list : {"containers", "initContainers"})
    for (const Json& container : elements(pod, list)) names.insert(find_string(container, "name"));
  return names;
}

void validate_exit_codes(const Json& rule, const std::set<std::string_view>& containers,
                         const FieldPath& path, FieldErrors& errors) {
  validate_listed_word(rule, "operator", kOperators, path, errors);
  if (const Json* container_name = find_set(rule, "containerName")) {
    const std::string_view name = text_of(*container_name);
    if (!containers.contains(name))
      errors.invalid(path.child("containerName"), name,
                     "must be one of the container or initContainer names in the pod template");
  }
  const FieldPath values_path = path.child("values");
  const JsonArray& values = elements(rule, "values");
  if (values.empty())
    errors.invalid(values_path, part_of(rule, "values"), "at least one value is required");
  if (values.size() > kExitCodesMax) errors.too_many(values_path, values.size(), kExitCodesMax);
  std::optional<std::int64_t> last;
  std::set<std::int64_t> seen;
  bool ordered = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t code = integer_of(values[i]).value_or(0);
    if (code == 0 && find_string(rule, "operator") == "In")
      errors.invalid(values_path.index(i), code, "must not be 0 for the In operator");
    if (!seen.insert(code).second) errors.duplicate(values_path.index(i), code);
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
    validate_listed_word(patterns[i], "status", kStatuses, here, errors);
  }
}

void validate_failure_rule(const Json& rule, const Json& spec,
                           const std::set<std::string_view>& containers, const FieldPath& path,
                           FieldErrors& errors) {
  const std::string_view action = find_string(rule, "action");
  validate_listed_word(rule, "action", kActions, path, errors);
  if (action == "FailIndex" && find_set(spec, "backoffLimitPerIndex") == nullptr)
    errors.invalid(path.child("action"), action, "requires the backoffLimitPerIndex to be set");
  const Json* codes = find_set(rule, "onExitCodes");
  const JsonArray& patterns = elements(rule, "onPodConditions");
  if (codes != nullptr) validate_exit_codes(*codes, containers, path.child("onExitCodes"), errors);
  validate_patterns(patterns, path.child("onPodConditions"), errors);
  if (codes != nullptr && !patterns.empty())
    errors.invalid(path, "specifying both OnExitCodes and OnPodConditions is not supported");
  if (codes == nullptr && patterns.empty())
    errors.invalid(path, "specifying one of OnExitCodes and OnPodConditions is required");
}

Result<std::int64_t> read_index(std::string_view text, std::int64_t completions) {
  std::int64_t value = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    return fail(Reason::Invalid, "cannot convert string to integer for index: \"{}\"", text);
  if (value >= completions) return fail(Reason::Invalid, "too large index: \"{}\"", text);
  return value;
}

// How many indexes "1,3-5,7" names, if it names them in order and all below `completions`.
Result<std::int64_t> count_indexes(std::string_view text, std::int64_t completions) {
  std::int64_t count = 0;
  std::optional<std::int64_t> before;
  const auto check_order = [](std::int64_t previous, std::int64_t current) -> Result<void> {
    if (previous < current) return {};
    return fail(Reason::Invalid, "non-increasing order, previous: {}, current: {}", previous,
                current);
  };
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view interval = text.substr(0, comma);
    const std::size_t dash = interval.find('-');
    if (dash != std::string_view::npos && interval.find('-', dash + 1) != std::string_view::npos)
      return fail(Reason::Invalid,
                  "the fragment \"{}\" violates the requirement that an index interval can have at "
                  "most two parts separated by '-'",
                  interval);
    const std::int64_t first = TRY(read_index(interval.substr(0, dash), completions));
    std::int64_t last = first;
    if (dash != std::string_view::npos) {
      last = TRY(read_index(interval.substr(dash + 1), completions));
      TRY(check_order(first, last));
    }
    if (before) TRY(check_order(*before, first));
    count += last - first + 1;
    before = last;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    // After a last comma there is one more interval, an empty one.
    if (text.empty()) TRY(read_index(text, completions));
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
    const auto counted = count_indexes(text, completions);
    listed = counted ? *counted : 0;
    if (!counted)
      errors.invalid(here, text,
                     fmt::format("error parsing succeededIndexes: {}", counted.error().message));
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
  const std::set<std::string_view> containers = container_names(spec);
  for (std::size_t i = 0; i < rules.size(); ++i)
    validate_failure_rule(rules[i], spec, containers, rules_path.index(i), errors);
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
