#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/resources.h"
#include "api/values/quantity.h"

// LimitRanges and ResourceQuotas: well-formed. The server enforces them when objects are written.
namespace muster::api::rules {
namespace {

using Names = std::set<std::string_view>;

constexpr std::string_view kLimitTypes[] = {"Pod", "Container", "PersistentVolumeClaim"};
constexpr std::string_view kScopes[] = {"Terminating",          "NotTerminating",
                                        "BestEffort",           "NotBestEffort",
                                        "PriorityClass",        "CrossNamespacePodAffinity",
                                        "VolumeAttributesClass"};
constexpr std::string_view kPodAmounts[] = {"cpu",           "memory",       "limits.cpu",
                                            "limits.memory", "requests.cpu", "requests.memory"};
constexpr std::string_view kClaimAmounts[] = {"persistentvolumeclaims", "requests.storage"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::optional<Quantity> amount_of(const Json& item, std::string_view member,
                                  std::string_view resource) {
  const std::string_view text = find_string(part_of(item, member), resource);
  if (text.empty()) return std::nullopt;
  auto parsed = Quantity::parse(text);
  if (!parsed) return std::nullopt;
  return *parsed;
}

// One of the amounts of a limit that may not be above another.
struct Order {
  std::string_view low;
  std::string_view high;
  std::string_view low_words;  // as messages call it
  std::string_view high_words;
  std::string_view at;     // the member that is blamed
  std::string_view shown;  // the member whose amount is shown
};
constexpr Order kOrders[] = {
    {"min", "max", "min", "max", "min", "min"},
    {"min", "defaultRequest", "min", "default request", "defaultRequest", "defaultRequest"},
    {"defaultRequest", "max", "default request", "max", "defaultRequest", "defaultRequest"},
    {"defaultRequest", "default", "default request", "default limit", "defaultRequest",
     "defaultRequest"},
    {"min", "default", "min", "default", "default", "min"},
    {"default", "max", "default", "max", "default", "max"},
};

void validate_ratio(const Json& item, std::string_view resource, const FieldPath& path,
                    FieldErrors& errors) {
  const auto ratio = amount_of(item, "maxLimitRequestRatio", resource);
  if (!ratio) return;
  const FieldPath ratios = path.child("maxLimitRequestRatio");
  const FieldPath here = ratios.key(resource);
  if (*ratio < Quantity::of_units(1))
    errors.invalid(here, *ratio, fmt::format("ratio {} is less than 1", ratio->text()));
  const auto min = amount_of(item, "min", resource);
  const auto max = amount_of(item, "max", resource);
  if (!min || !max || min->is_zero()) return;
  const double most =
      static_cast<double>(max->milli_value()) / static_cast<double>(min->milli_value());
  if (static_cast<double>(ratio->milli_value()) / 1000 > most)
    errors.invalid(here, *ratio,
                   fmt::format("ratio {} is greater than max/min = {:f}", ratio->text(), most));
}

void validate_amounts(const Json& item, std::string_view resource, const FieldPath& path,
                      FieldErrors& errors) {
  for (const Order& order : kOrders) {
    const auto low = amount_of(item, order.low, resource);
    const auto high = amount_of(item, order.high, resource);
    if (!low || !high || *low <= *high) continue;
    const FieldPath here = path.child(order.at);
    errors.invalid(here.key(resource), order.shown == order.low ? *low : *high,
                   fmt::format("{} value {} is greater than {} value {}", order.low_words,
                               low->text(), order.high_words, high->text()));
  }
  validate_ratio(item, resource, path, errors);
  const auto limit = amount_of(item, "default", resource);
  const auto request = amount_of(item, "defaultRequest", resource);
  if (!may_overcommit(resource) && limit && request && *limit != *request) {
    const FieldPath here = path.child("defaultRequest");
    errors.invalid(here.key(resource), *request,
                   fmt::format("default value {} must equal to defaultRequest value {} in {}",
                               limit->text(), request->text(), resource));
  }
}

// Whether the name of the type is fine.
void validate_limit_type(std::string_view type, const FieldPath& path, FieldErrors& errors) {
  const Messages messages = check_qualified_name(type);
  errors.invalid_each(path, type, messages);
  if (messages.empty() && type.find('/') == std::string_view::npos && !contains(kLimitTypes, type))
    errors.invalid(path, type, "must be a standard limit type or fully qualified");
}

void validate_limit(const Json& item, const FieldPath& path, FieldErrors& errors) {
  const std::string_view type = find_string(item, "type");
  const bool runs = type == "Pod" || type == "Container";
  Names resources;
  const auto validate_names = [&](std::string_view member) {
    const FieldPath amounts = path.child(member);
    for (const auto& entry : members(item, member)) {
      const FieldPath here = amounts.key(key_of(entry));
      if (runs)
        validate_container_resource_name(key_of(entry), here, errors);
      else
        validate_resource_name(key_of(entry), here, errors);
      resources.insert(key_of(entry));
    }
  };
  validate_names("max");
  validate_names("min");
  for (const std::string_view member : {"default", "defaultRequest"})
    if (type != "Pod")
      validate_names(member);
    else if (!members(item, member).empty())
      errors.forbidden(path.child(member), "may not be specified when `type` is 'Pod'");
  if (type == "PersistentVolumeClaim" && !members(item, "min").contains("storage") &&
      !members(item, "max").contains("storage"))
    errors.required(path.child("limits"),
                    "either minimum or maximum storage value is required, but neither was "
                    "provided");
  validate_names("maxLimitRequestRatio");
  for (const std::string_view resource : resources) validate_amounts(item, resource, path, errors);
}

// Whether a quota of `resource` can be counted within `scope`.
bool counts_in(std::string_view scope, std::string_view resource) {
  if (scope == "BestEffort") return resource == "pods";
  if (scope == "VolumeAttributesClass") return contains(kClaimAmounts, resource);
  if (!contains(kScopes, scope)) return true;
  return resource == "pods" || contains(kPodAmounts, resource);
}

// How many of the resources that a quota limits cannot be counted within a scope. Asked for each
// scope of a list, so each of the few names is looked at once.
class Uncounted {
 public:
  explicit Uncounted(const Json& spec) : spec_(spec) {}

  std::size_t in(std::string_view scope) {
    if (!contains(kScopes, scope)) return 0;
    const auto [known, is_new] = known_.try_emplace(scope, 0);
    if (is_new)
      for (const auto& entry : members(spec_, "hard"))
        if (is_quota_resource(key_of(entry)) && !counts_in(scope, key_of(entry))) ++known->second;
    return known->second;
  }

 private:
  const Json& spec_;
  std::map<std::string_view, std::size_t> known_;
};

bool in_conflict(const Names& scopes) {
  return (scopes.contains("BestEffort") && scopes.contains("NotBestEffort")) ||
         (scopes.contains("Terminating") && scopes.contains("NotTerminating"));
}

void validate_scopes(const Json& spec, FieldErrors& errors) {
  const FieldPath path("spec.scopes");
  const Json& list = part_of(spec, "scopes");
  Names seen;
  Uncounted uncounted(spec);
  for (const Json& scope : elements(spec, "scopes")) {
    if (!contains(kScopes, text_of(scope))) errors.invalid(path, list, "unsupported scope");
    if (const std::size_t count = uncounted.in(text_of(scope)); count > 0) {
      errors.invalid(path, list, "unsupported scope applied to resource");
      errors.repeat_last(count - 1);
    }
    seen.insert(text_of(scope));
  }
  if (in_conflict(seen)) errors.invalid(path, list, "conflicting scopes");
}

void validate_scope_operator(const Json& requirement, const FieldPath& path, FieldErrors& errors) {
  const std::string_view scope = find_string(requirement, "scopeName");
  const std::string_view op = find_string(requirement, "operator");
  const JsonArray& values = elements(requirement, "values");
  if (scope != "PriorityClass" && scope != "VolumeAttributesClass" && contains(kScopes, scope) &&
      op != "Exists")
    errors.invalid(path.child("operator"), op,
                   "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, "
                   "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                   "ResourceQuotaScopeNotBestEffort or "
                   "ResourceQuotaScopeCrossNamespacePodAffinity");
  if (op == "In" || op == "NotIn") {
    if (values.empty())
      errors.required(path.child("values"),
                      "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                      "selector");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty())
      errors.invalid(path.child("values"), part_of(requirement, "values"),
                     "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                     "selector");
  } else {
    errors.invalid(path.child("operator"), op, "not a valid selector operator");
  }
}

// Upstream's paths here do not say which expression is meant.
void validate_scope_selector(const Json& spec, FieldErrors& errors) {
  const FieldPath path("spec.scopeSelector.matchExpressions");
  const Json& selector = part_of(spec, "scopeSelector");
  Names seen;
  Uncounted uncounted(spec);
  for (const Json& requirement : elements(selector, "matchExpressions")) {
    const std::string_view scope = find_string(requirement, "scopeName");
    if (!contains(kScopes, scope))
      errors.invalid(path.child("scopeName"), scope, "unsupported scope");
    if (const std::size_t count = uncounted.in(scope); count > 0) {
      errors.invalid(path, selector, "unsupported scope applied to resource");
      errors.repeat_last(count - 1);
    }
    validate_scope_operator(requirement, path, errors);
    seen.insert(scope);
  }
  if (in_conflict(seen)) errors.invalid(path, part_of(spec, "scopes"), "conflicting scopes");
}

Names scopes_of(const Json& quota) {
  Names names;
  for (const Json& scope : elements(part_of(quota, "spec"), "scopes")) names.insert(text_of(scope));
  return names;
}

}  // namespace

// Containers that say nothing get the most they may have, and request what they are limited to.
void default_limit_range(JsonObject& range) {
  JsonObject& spec = ensure_object(range, "spec");
  Json* limits = spec.if_contains("limits");
  if (limits == nullptr || !limits->is_array()) return;
  for (Json& item : limits->get_array()) {
    if (find_string(item, "type") != "Container") continue;
    const auto take_over = [&](std::string_view to, std::string_view from) {
      const JsonObject source = members(item, from);
      if (source.empty()) return;
      JsonObject& target = ensure_object(item.get_object(), to);
      for (const auto& member : source)
        if (target.if_contains(member.key()) == nullptr) target[member.key()] = member.value();
    };
    take_over("default", "max");
    take_over("defaultRequest", "default");
    take_over("defaultRequest", "min");
  }
}

void validate_limit_range(const Json& now, const Json*, FieldErrors& errors) {
  const FieldPath path("spec.limits");
  Names types;
  std::size_t at = 0;
  for (const Json& item : elements(part_of(now, "spec"), "limits")) {
    const FieldPath here = path.index(at++);
    const std::string_view type = find_string(item, "type");
    validate_limit_type(type, here.child("type"), errors);
    if (!types.insert(type).second) errors.duplicate(here.child("type"), type);
    validate_limit(item, here, errors);
  }
}

void validate_resource_quota(const Json& now, const Json* old, FieldErrors& errors) {
  const Json& spec = part_of(now, "spec");
  const FieldPath hard("spec.hard");
  for (const auto& entry : members(spec, "hard")) {
    const FieldPath here = hard.key(key_of(entry));
    validate_quota_resource_name(key_of(entry), here, errors);
    validate_resource_amount(key_of(entry), entry.value(), here, errors);
  }
  validate_scopes(spec, errors);
  validate_scope_selector(spec, errors);
  if (old != nullptr && scopes_of(now) != scopes_of(*old))
    errors.invalid(FieldPath("spec.scopes"), part_of(spec, "scopes"), kImmutableField);
}

}  // namespace muster::api::rules
