#include "api/validation/placement_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "api/validation/object_meta.h"

namespace muster::api {
namespace {

constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
constexpr std::string_view kTolerationOperators[] = {"Equal", "Exists"};
constexpr std::string_view kUnsatisfiableActions[] = {"DoNotSchedule", "ScheduleAnyway"};
constexpr std::string_view kInclusionPolicies[] = {"Honor", "Ignore"};
constexpr std::string_view kBadOperator = "not a valid selector operator";

// Preferred node affinity may hold values that no label can have.
enum class Values : std::uint8_t { Checked, Unchecked };

bool contains(std::span<const std::string_view> choices, std::string_view value) {
  return std::ranges::find(choices, value) != choices.end();
}

void validate_label_values(const Json& requirement, const FieldPath& path, FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& element : elements(requirement, "values")) {
    const std::string_view value = text_of(element);
    errors.invalid_each(path.index(at++), value, check_label_value(value));
  }
}

// In, NotIn, Exists, DoesNotExist and, for nodes, Gt and Lt: each wants its own number of values.
void validate_operator(const Json& requirement, bool compares, const FieldPath& path,
                       FieldErrors& errors) {
  const std::string_view op = find_string(requirement, "operator");
  const std::size_t count = elements(requirement, "values").size();
  if (op == "In" || op == "NotIn") {
    if (count == 0)
      errors.required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (count > 0)
      errors.forbidden(path.child("values"),
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (compares && (op == "Gt" || op == "Lt")) {
    if (count != 1)
      errors.required(path.child("values"),
                      "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else {
    errors.invalid(path.child("operator"), op, kBadOperator);
  }
}

void validate_label_key(std::string_view key, const FieldPath& path, FieldErrors& errors) {
  errors.invalid_each(path, key, check_qualified_name(key));
}

void validate_node_field(const Json& requirement, const FieldPath& path, FieldErrors& errors) {
  const std::string_view op = find_string(requirement, "operator");
  const JsonArray& values = elements(requirement, "values");
  if (op != "In" && op != "NotIn")
    errors.invalid(path.child("operator"), op, kBadOperator);
  else if (values.size() != 1)
    errors.required(path.child("values"),
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                    "selector");
  const std::string_view key = find_string(requirement, "key");
  if (key != "metadata.name") {
    errors.invalid(path.child("key"), key, "not a valid field selector key");
    return;
  }
  const FieldPath values_path = path.child("values");
  std::size_t at = 0;
  for (const Json& value : values)
    errors.invalid_each(values_path.index(at++), text_of(value),
                        check_dns_subdomain(text_of(value)));
}

void validate_node_term(const Json& term, Values values, const FieldPath& path,
                        FieldErrors& errors) {
  const FieldPath expressions = path.child("matchExpressions");
  std::size_t at = 0;
  for (const Json& requirement : elements(term, "matchExpressions")) {
    const FieldPath here = expressions.index(at++);
    validate_operator(requirement, /*compares=*/true, here, errors);
    validate_label_key(find_string(requirement, "key"), here.child("key"), errors);
    if (values == Values::Checked) validate_label_values(requirement, here.child("values"), errors);
  }
  const FieldPath fields = path.child("matchFields");
  at = 0;
  for (const Json& requirement : elements(term, "matchFields"))
    validate_node_field(requirement, fields.index(at++), errors);
}

void validate_weight(const Json& term, const FieldPath& path, FieldErrors& errors) {
  const std::int64_t weight = find_integer(term, "weight").value_or(0);
  if (weight < 1 || weight > 100)
    errors.invalid(path.child("weight"), weight, "must be in the range 1-100");
}

void validate_node_affinity(const Json& affinity, const FieldPath& path, FieldErrors& errors) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const Json* required = find_set(affinity, kRequired))
    validate_node_selector(*required, path.child(kRequired), errors);
  const FieldPath preferred = path.child(kPreferred);
  std::size_t at = 0;
  for (const Json& term : elements(affinity, kPreferred)) {
    const FieldPath here = preferred.index(at++);
    validate_weight(term, here, errors);
    if (const Json* preference = find_set(term, "preference"))
      validate_node_term(*preference, Values::Unchecked, here.child("preference"), errors);
  }
}

std::set<std::string_view> selector_keys(const Json* selector) {
  std::set<std::string_view> keys;
  if (selector == nullptr) return keys;
  for (const auto& label : members(*selector, "matchLabels")) keys.insert(key_of(label));
  for (const Json& requirement : elements(*selector, "matchExpressions"))
    keys.insert(find_string(requirement, "key"));
  return keys;
}

void validate_key_list(const Json& term, std::string_view member, const FieldPath& path,
                       FieldErrors& errors) {
  const FieldPath here = path.child(member);
  const JsonArray& keys = elements(term, member);
  if (keys.empty()) return;
  if (find_set(term, "labelSelector") == nullptr) {
    errors.forbidden(here, "must not be specified when labelSelector is not set");
    return;
  }
  std::size_t at = 0;
  for (const Json& key : keys) validate_label_key(text_of(key), here.index(at++), errors);
}

void validate_match_keys(const Json& term, const FieldPath& path, FieldErrors& errors) {
  validate_key_list(term, "matchLabelKeys", path, errors);
  validate_key_list(term, "mismatchLabelKeys", path, errors);
  const FieldPath here = path.child("matchLabelKeys");
  std::set<std::string_view> mismatch;
  for (const Json& key : elements(term, "mismatchLabelKeys")) mismatch.insert(text_of(key));
  std::size_t at = 0;
  for (const Json& key : elements(term, "matchLabelKeys")) {
    if (mismatch.contains(text_of(key)))
      errors.invalid(here.index(at), text_of(key),
                     "exists in both matchLabelKeys and mismatchLabelKeys");
    ++at;
  }
}

void validate_pod_term(const Json& term, const FieldPath& path, FieldErrors& errors) {
  validate_label_selector(find_set(term, "labelSelector"), path.child("labelSelector"), errors);
  validate_label_selector(find_set(term, "namespaceSelector"), path.child("namespaceSelector"),
                          errors);
  for (const Json& name : elements(term, "namespaces"))
    errors.invalid_each(path.child("namespace"), text_of(name), check_dns_label(text_of(name)));
  validate_match_keys(term, path, errors);
  const std::string_view key = find_string(term, "topologyKey");
  if (key.empty()) errors.required(path.child("topologyKey"), "can not be empty");
  validate_label_key(key, path.child("topologyKey"), errors);
}

void validate_pod_affinity(const Json& affinity, const FieldPath& path, FieldErrors& errors) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const FieldPath required = path.child(kRequired);
  std::size_t at = 0;
  for (const Json& term : elements(affinity, kRequired))
    validate_pod_term(term, required.index(at++), errors);
  const FieldPath preferred = path.child(kPreferred);
  at = 0;
  for (const Json& weighted : elements(affinity, kPreferred)) {
    const FieldPath here = preferred.index(at++);
    validate_weight(weighted, here, errors);
    if (const Json* term = find_set(weighted, "podAffinityTerm"))
      validate_pod_term(*term, here.child("podAffinityTerm"), errors);
  }
}

void validate_effect(std::string_view effect, const FieldPath& path, FieldErrors& errors) {
  if (!contains(kEffects, effect)) errors.not_supported(path, effect, kEffects);
}

void validate_toleration(const Json& toleration, const FieldPath& path, FieldErrors& errors) {
  const std::string_view key = find_string(toleration, "key");
  const std::string_view op = find_string(toleration, "operator");
  const std::string_view value = find_string(toleration, "value");
  const std::string_view effect = find_string(toleration, "effect");
  if (!key.empty()) validate_label_key(key, path.child("key"), errors);
  if (key.empty() && op != "Exists")
    errors.invalid(
        path.child("operator"), op,
        "operator must be Exists when `key` is empty, which means \"match all values and "
        "all keys\"");
  if (find_set(toleration, "tolerationSeconds") != nullptr && effect != "NoExecute")
    errors.invalid(path.child("effect"), effect,
                   "effect must be 'NoExecute' when `tolerationSeconds` is set");
  if (op.empty() || op == "Equal") {
    if (const Messages messages = check_label_value(value); !messages.empty())
      errors.invalid(path.child("operator"), value, fmt::format("{}", fmt::join(messages, ";")));
  } else if (op == "Exists") {
    if (!value.empty())
      errors.invalid(path.child("operator"), value,
                     "value must be empty when `operator` is 'Exists'");
  } else {
    errors.not_supported(path.child("operator"), op, kTolerationOperators);
  }
  if (!effect.empty()) validate_effect(effect, path.child("effect"), errors);
}

void validate_spread_keys(const Json& constraint, const FieldPath& path, FieldErrors& errors) {
  const JsonArray& keys = elements(constraint, "matchLabelKeys");
  if (keys.empty()) return;
  const Json* selector = find_set(constraint, "labelSelector");
  if (selector == nullptr)
    errors.forbidden(path, "must not be specified when labelSelector is not set");
  const std::set<std::string_view> selected = selector_keys(selector);
  std::size_t at = 0;
  for (const Json& key : keys) {
    const FieldPath here = path.index(at++);
    validate_label_key(text_of(key), here, errors);
    if (selected.contains(text_of(key)))
      errors.invalid(here, text_of(key), "exists in both matchLabelKeys and labelSelector");
  }
}

void validate_min_domains(const Json& constraint, std::string_view action, const FieldPath& path,
                          FieldErrors& errors) {
  const auto domains = find_integer(constraint, "minDomains");
  if (!domains) return;
  if (*domains <= 0) errors.invalid(path, *domains, "must be greater than zero");
  if (action != "DoNotSchedule")
    errors.invalid(
        path, *domains,
        fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action));
}

void validate_spread_constraint(const Json& constraint, const FieldPath& path,
                                FieldErrors& errors) {
  const std::int64_t skew = find_integer(constraint, "maxSkew").value_or(0);
  if (skew <= 0) errors.invalid(path.child("maxSkew"), skew, "must be greater than zero");
  if (find_string(constraint, "topologyKey").empty())
    errors.required(path.child("topologyKey"), "can not be empty");
  const std::string_view action = find_string(constraint, "whenUnsatisfiable");
  if (!contains(kUnsatisfiableActions, action))
    errors.not_supported(path.child("whenUnsatisfiable"), action, kUnsatisfiableActions);
}

// What two constraints may not both have.
using SpreadKey = std::pair<std::string_view, std::string_view>;
SpreadKey spread_key(const Json& constraint) {
  return {find_string(constraint, "topologyKey"), find_string(constraint, "whenUnsatisfiable")};
}

}  // namespace

void validate_label_selector(const Json* selector, const FieldPath& path, FieldErrors& errors) {
  if (selector == nullptr) return;
  validate_labels(members(*selector, "matchLabels"), path.child("matchLabels"), errors);
  const FieldPath expressions = path.child("matchExpressions");
  std::size_t at = 0;
  for (const Json& requirement : elements(*selector, "matchExpressions")) {
    const FieldPath here = expressions.index(at++);
    validate_operator(requirement, /*compares=*/false, here, errors);
    validate_label_key(find_string(requirement, "key"), here.child("key"), errors);
    validate_label_values(requirement, here.child("values"), errors);
  }
}

void validate_node_selector(const Json& selector, const FieldPath& path, FieldErrors& errors) {
  const FieldPath terms_path = path.child("nodeSelectorTerms");
  const JsonArray& terms = elements(selector, "nodeSelectorTerms");
  if (terms.empty()) errors.required(terms_path, "must have at least one node selector term");
  std::size_t at = 0;
  for (const Json& term : terms)
    validate_node_term(term, Values::Checked, terms_path.index(at++), errors);
}

void validate_affinity(const Json& affinity, const FieldPath& path, FieldErrors& errors) {
  if (const Json* node = find_set(affinity, "nodeAffinity"))
    validate_node_affinity(*node, path.child("nodeAffinity"), errors);
  for (const std::string_view member : {"podAffinity", "podAntiAffinity"})
    if (const Json* pod = find_set(affinity, member))
      validate_pod_affinity(*pod, path.child(member), errors);
}

void validate_tolerations(const JsonArray& tolerations, const FieldPath& path,
                          FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& toleration : tolerations)
    validate_toleration(toleration, path.index(at++), errors);
}

void validate_topology_spread(const JsonArray& constraints, const FieldPath& path,
                              FieldErrors& errors) {
  std::map<SpreadKey, std::size_t> left;  // from here to the end of the list
  for (const Json& constraint : constraints) ++left[spread_key(constraint)];
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Json& constraint = constraints[i];
    const FieldPath here = path.index(i);
    const std::string_view action = find_string(constraint, "whenUnsatisfiable");
    validate_spread_constraint(constraint, here, errors);
    if (--left[spread_key(constraint)] > 0)
      errors.duplicate(here.child("{topologyKey, whenUnsatisfiable}"),
                       fmt::format("{{{}, {}}}", find_string(constraint, "topologyKey"), action));
    validate_min_domains(constraint, action, here.child("minDomains"), errors);
    for (const std::string_view member : {"nodeAffinityPolicy", "nodeTaintsPolicy"})
      if (const std::string_view policy = find_string(constraint, member);
          !policy.empty() && !contains(kInclusionPolicies, policy))
        errors.not_supported(here.child(member), policy, kInclusionPolicies);
    validate_spread_keys(constraint, here.child("matchLabelKeys"), errors);
    validate_label_selector(find_set(constraint, "labelSelector"), here.child("labelSelector"),
                            errors);
  }
}

void validate_taints(const JsonArray& taints, const FieldPath& path, FieldErrors& errors) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::size_t at = 0;
  for (const Json& taint : taints) {
    const FieldPath here = path.index(at++);
    const std::string_view key = find_string(taint, "key");
    const std::string_view value = find_string(taint, "value");
    const std::string_view effect = find_string(taint, "effect");
    validate_label_key(key, here.child("key"), errors);
    if (const Messages messages = check_label_value(value); !messages.empty())
      errors.invalid(here.child("value"), value, fmt::format("{}", fmt::join(messages, ";")));
    if (effect.empty())
      errors.required(here.child("effect"));
    else
      validate_effect(effect, here.child("effect"), errors);
    if (!seen.emplace(key, effect).second)
      errors.duplicate(here, taint, "taints must be unique by key and effect pair");
  }
}

}  // namespace muster::api
