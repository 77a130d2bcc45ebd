#include <algorithm>
#include <string>
#include <string_view>

#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/reading.h"
#include "api/validation/resources.h"
#include "api/values/quantity.h"

// LimitRanges and ResourceQuotas: well-formed, though nothing here enforces them.
namespace muster::api::rules {
namespace {

constexpr std::string_view kNotSmaller[] = {"min", "defaultRequest", "default", "max"};

void validate_amounts(const Json& holder, std::string_view member, const FieldPath& path,
                      FieldErrors& errors) {
  const FieldPath here = path.child(member);
  for (const auto& entry : members(holder, member)) {
    const FieldPath at = here.key(key_of(entry));
    errors.invalid_each(at, key_of(entry), check_qualified_name(key_of(entry)));
    validate_resource_amount(key_of(entry), entry.value(), at, errors);
  }
}

std::optional<Quantity> amount_of(const Json& item, std::string_view member,
                                  std::string_view resource) {
  const std::string_view text = find_string(part_of(item, member), resource);
  if (text.empty()) return std::nullopt;
  auto parsed = Quantity::parse(text);
  if (!parsed) return std::nullopt;
  return *parsed;
}

// min <= defaultRequest <= default <= max, of those that are set.
void validate_order(const Json& item, std::string_view resource, const FieldPath& path,
                    FieldErrors& errors) {
  std::optional<Quantity> least;
  std::string_view least_name;
  for (const std::string_view member : kNotSmaller) {
    const auto amount = amount_of(item, member, resource);
    if (!amount) continue;
    if (least && *amount < *least) {
      const FieldPath here = path.child(least_name);
      errors.invalid(here.key(resource), *least,
                     std::string(least_name) + " value " + least->text() + " is greater than " +
                         std::string(member) + " value " + amount->text());
    }
    least = amount;
    least_name = member;
  }
}

}  // namespace

void validate_limit_range(const Json& now, const Json*, FieldErrors& errors) {
  const FieldPath path("spec.limits");
  std::size_t at = 0;
  for (const Json& item : elements(part_of(now, "spec"), "limits")) {
    const FieldPath here = path.index(at++);
    const std::string_view type = find_string(item, "type");
    errors.invalid_each(here.child("type"), type, check_qualified_name(type));
    std::vector<std::string_view> resources;
    for (const std::string_view member :
         {"min", "max", "default", "defaultRequest", "maxLimitRequestRatio"}) {
      validate_amounts(item, member, here, errors);
      for (const auto& entry : members(item, member)) resources.push_back(key_of(entry));
    }
    if (type == "Pod")
      for (const std::string_view member : {"default", "defaultRequest"})
        if (!members(item, member).empty())
          errors.forbidden(here.child(member), "may not be specified when `type` is 'Pod'");
    std::ranges::sort(resources);
    resources.erase(std::ranges::unique(resources).begin(), resources.end());
    for (const std::string_view resource : resources) validate_order(item, resource, here, errors);
  }
}

void validate_resource_quota(const Json& now, const Json* old, FieldErrors& errors) {
  const FieldPath path("spec");
  const Json& spec = part_of(now, "spec");
  validate_amounts(spec, "hard", path, errors);
  if (old != nullptr) keep_members(spec, part_of(*old, "spec"), {"scopes"}, path, errors);
}

}  // namespace muster::api::rules
