#include "api/views/pod_terms.h"

#include <algorithm>

#include "api/reading.h"
#include "api/views/read_strings.h"

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

PodTerm read_term(TermRole role, const Json& term, std::int64_t weight) {
  PodTerm read{.role = role,
               .topology_key = std::string(find_string(term, "topologyKey")),
               .selector = read_pod_selector(find(term, "labelSelector")),
               .namespaces = read_sorted_strings(term, "namespaces"),
               .namespace_selector = std::nullopt,
               .match_label_keys = read_sorted_strings(term, "matchLabelKeys"),
               .mismatch_label_keys = read_sorted_strings(term, "mismatchLabelKeys"),
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
  for (const Json& term : elements(*affinity, "requiredDuringSchedulingIgnoredDuringExecution"))
    terms.push_back(read_term(role, term, 0));
}

void read_preferred(const Json& spec, std::string_view path, TermRole role,
                    std::vector<PodTerm>& terms) {
  const Json* affinity = find_path(spec, path);
  if (affinity == nullptr) return;
  for (const Json& entry : elements(*affinity, "preferredDuringSchedulingIgnoredDuringExecution")) {
    const std::int64_t weight = find_integer(entry, "weight").value_or(0);
    const Json* term = find(entry, "podAffinityTerm");
    if (term != nullptr && weight != 0) terms.push_back(read_term(role, *term, weight));
  }
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
  for (const Json& entry : elements(spec, "topologySpreadConstraints")) {
    constraints.push_back(
        {.topology_key = std::string(find_string(entry, "topologyKey")),
         .max_skew = static_cast<std::int32_t>(find_integer(entry, "maxSkew").value_or(1)),
         .is_hard = find_string(entry, "whenUnsatisfiable") != "ScheduleAnyway",
         .selector = read_pod_selector(find(entry, "labelSelector")),
         .match_label_keys = read_sorted_strings(entry, "matchLabelKeys"),
         .min_domains = static_cast<std::int32_t>(find_integer(entry, "minDomains").value_or(1)),
         .honors_affinity = find_string(entry, "nodeAffinityPolicy") != "Ignore",
         .honors_taints = find_string(entry, "nodeTaintsPolicy") == "Honor"});
  }
  return constraints;
}

}  // namespace muster::api
