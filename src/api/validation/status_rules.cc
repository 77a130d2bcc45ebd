#include "api/validation/status_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "api/reading.h"
#include "api/values/names.h"

namespace muster::api {
namespace {

constexpr std::size_t kReasonBytesMax = 1024;
constexpr std::size_t kMessageBytesMax = 32768;
constexpr std::array<std::string_view, 3> kStatuses{"False", "True", "Unknown"};

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

// [A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?
bool is_reason(std::string_view reason) {
  return !reason.empty() && is_letter(reason.front()) && is_word(reason.back()) &&
         std::ranges::all_of(reason, [](char c) { return is_word(c) || c == ',' || c == ':'; });
}

void validate_reason(std::string_view reason, const FieldPath& path, FieldErrors& errors) {
  if (reason.empty()) {
    errors.required(path);
    return;
  }
  if (!is_reason(reason))
    errors.invalid(path, reason,
                   "a condition reason must start with alphabetic character, optionally followed "
                   "by a string of alphanumeric characters or '_,:', and must end with an "
                   "alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
                   "or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
                   "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
  if (reason.size() > kReasonBytesMax) errors.too_long(path, kReasonBytesMax);
}

}  // namespace

void validate_condition(const Json& condition, const FieldPath& path, ConditionRules rules,
                        FieldErrors& errors) {
  if (const std::string_view type = find_string(condition, "type"); type.empty())
    errors.required(path.child("type"), "is required");
  else
    errors.invalid_each(path.child("type"), type, check_qualified_name(type));

  if (const std::string_view status = find_string(condition, "status"); status.empty())
    errors.required(path.child("status"));
  else if (std::ranges::find(kStatuses, status) == kStatuses.end())
    errors.not_supported(path.child("status"), status, kStatuses);

  const auto generation = find_integer(condition, "observedGeneration");
  if (generation && *generation < 0)
    errors.invalid(path.child("observedGeneration"), *generation,
                   "must be greater than or equal to zero");
  if (rules.stamped && find_string(condition, "lastTransitionTime").empty())
    errors.required(path.child("lastTransitionTime"));
  validate_reason(find_string(condition, "reason"), path.child("reason"), errors);
  if (find_string(condition, "message").size() > kMessageBytesMax)
    errors.too_long(path.child("message"), kMessageBytesMax);
}

void validate_conditions(const JsonArray& conditions, const FieldPath& path, FieldErrors& errors) {
  std::set<std::string_view> types;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const FieldPath here = path.index(i);
    const std::string_view type = find_string(conditions[i], "type");
    if (!types.insert(type).second) errors.duplicate(here, type);
    validate_condition(conditions[i], here, {}, errors);
  }
}

}  // namespace muster::api
