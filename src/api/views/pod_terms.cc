#include "api/views/pod_terms.h"

#include <algorithm>

namespace muster::api {
namespace {

bool holds(const NodeRequirement& test, const std::string* value) {
  switch (test.op) {
    case SelectorOperator::In:
      return value != nullptr && std::ranges::binary_search(test.values, *value);
    case SelectorOperator::NotIn:
      return value == nullptr || !std::ranges::binary_search(test.values, *value);
    case SelectorOperator::Exists: return value != nullptr;
    case SelectorOperator::DoesNotExist: return value == nullptr;
    case SelectorOperator::Gt:
    case SelectorOperator::Lt:
    case SelectorOperator::Invalid: break;  // kept out by validation
  }
  return false;
}

template <typename Visit>
void for_each(const Json& value, std::string_view member, Visit&& visit) {
  if (const JsonArray* array = find_array(value, member))
    for (const Json& entry : *array) visit(entry);
}

std::vector<std::string> read_strings(const Json& value, std::string_view member) {
  std::vector<std::string> strings;
  for_each(value, member, [&](const Json& entry) {
    if (entry.is_string())
      strings.emplace_back(entry.get_string().data(), entry.get_string().size());
  });
  std::ranges::sort(strings);
  return strings;
}

std::int64_t read_number(const Json& value, std::string_view member, std::int64_t fallback) {
  const Json* found = find(value, member);
  return found != nullptr && found->is_int64() ? found->get_int64() : fallback;
}

PodTerm read_term(TermRole role, const Json& term, std::int64_t weight) {
  PodTerm read{.role = role,
               .topology_key = std::string(find_string(term, "topologyKey")),
               .selector = read_pod_selector(find(term, "labelSelector")),
               .namespaces = read_strings(term, "namespaces"),
               .namespace_selector = std::nullopt,
               .match_label_keys = read_strings(term, "matchLabelKeys"),
               .mismatch_label_keys = read_strings(term, "mismatchLabelKeys"),
               .weight = weight};
  if (const Json* selector = find(term, "namespaceSelector");
      selector != nullptr && selector->is_object())
    read.namespace_selector = read_pod_selector(selector);
  return read;
}

void read_required(const Json& spec, std::string_view path, TermRole role,
                   std::vector<PodTerm>& terms) {
  const Json* affinity = find_path(spec, path);
  if (affinity == nullptr) return;
  for_each(*affinity, "requiredDuringSchedulingIgnoredDuringExecution",
           [&](const Json& term) { terms.push_back(read_term(role, term, 0)); });
}

void read_preferred(const Json& spec, std::string_view path, TermRole role,
                    std::vector<PodTerm>& terms) {
  const Json* affinity = find_path(spec, path);
  if (affinity == nullptr) return;
  for_each(*affinity, "preferredDuringSchedulingIgnoredDuringExecution", [&](const Json& entry) {
    const std::int64_t weight = read_number(entry, "weight", 0);
    const Json* term = find(entry, "podAffinityTerm");
    if (term != nullptr && weight != 0) terms.push_back(read_term(role, *term, weight));
  });
}

}  // namespace

bool PodSelector::matches(const StringPairs& labels) const {
  return !is_null && std::ranges::all_of(tests, [&](const NodeRequirement& test) {
    return holds(test, lookup(labels, test.key));
  });
}

void PodSelector::require(const std::string& key, SelectorOperator op, const std::string& value) {
  if (is_null) return;
  NodeRequirement test{.key = key, .op = op, .values = {value}};
  const auto at = std::ranges::lower_bound(tests, test);
  if (at == tests.end() || *at != test) tests.insert(at, std::move(test));
}

PodSelector read_pod_selector(const Json* selector) {
  PodSelector read;
  if (selector == nullptr || !selector->is_object()) return read;
  read.is_null = false;
  if (const JsonObject* labels = find_object(*selector, "matchLabels"))
    for (const auto& member : *labels)
      if (member.value().is_string())
        read.tests.push_back({.key = std::string(member.key()),
                              .op = SelectorOperator::In,
                              .values = {std::string(member.value().get_string())}});
  for (NodeRequirement& test : read_requirements(*selector, "matchExpressions")) {
    std::ranges::sort(test.values);
    read.tests.push_back(std::move(test));
  }
  std::ranges::sort(read.tests);
  const auto repeated = std::ranges::unique(read.tests);
  read.tests.erase(repeated.begin(), repeated.end());
  return read;
}

std::vector<PodTerm> read_pod_terms(const Json& spec) {
  std::vector<PodTerm> terms;
  if (find(spec, "affinity") == nullptr) return terms;
  read_required(spec, "affinity.podAffinity", TermRole::Attracts, terms);
  read_required(spec, "affinity.podAntiAffinity", TermRole::Repels, terms);
  read_preferred(spec, "affinity.podAffinity", TermRole::Prefers, terms);
  read_preferred(spec, "affinity.podAntiAffinity", TermRole::Avoids, terms);
  return terms;
}

std::vector<SpreadConstraint> read_spread_constraints(const Json& spec) {
  std::vector<SpreadConstraint> constraints;
  for_each(spec, "topologySpreadConstraints", [&](const Json& entry) {
    constraints.push_back(
        {.topology_key = std::string(find_string(entry, "topologyKey")),
         .max_skew = static_cast<std::int32_t>(read_number(entry, "maxSkew", 1)),
         .is_hard = find_string(entry, "whenUnsatisfiable") != "ScheduleAnyway",
         .selector = read_pod_selector(find(entry, "labelSelector")),
         .match_label_keys = read_strings(entry, "matchLabelKeys"),
         .min_domains = static_cast<std::int32_t>(read_number(entry, "minDomains", 1)),
         .honors_affinity = find_string(entry, "nodeAffinityPolicy") != "Ignore",
         .honors_taints = find_string(entry, "nodeTaintsPolicy") == "Honor"});
  });
  return constraints;
}

}  // namespace muster::api
