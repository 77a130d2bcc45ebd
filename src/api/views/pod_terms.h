#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/values/string_pairs.h"
#include "api/views/node_requirement.h"

namespace muster::api {

// A metav1.LabelSelector as a value that can be compared: equal texts, equal selectors.
struct PodSelector {
  bool is_null = true;                 // a missing selector selects nothing
  std::vector<NodeRequirement> tests;  // sorted; all must hold; none: everything is selected

  bool matches(const StringPairs& labels) const;
  bool is_empty() const { return !is_null && tests.empty(); }
  // Adds `key in [value]`, or `key notin [value]`, unless it is there.
  void require(const std::string& key, SelectorOperator op, const std::string& value);
  friend auto operator<=>(const PodSelector&, const PodSelector&) = default;
};

PodSelector read_pod_selector(const Json* selector);

// What a pod says about others in a term of inter-pod (anti-)affinity.
enum class TermRole : std::uint8_t { Attracts, Repels, Prefers, Avoids };

struct PodTerm {
  TermRole role = TermRole::Attracts;
  std::string topology_key;
  PodSelector selector;
  std::vector<std::string>
      namespaces;  // sorted; those of the pod if both this and the next are empty
  std::optional<PodSelector> namespace_selector;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
  std::int64_t weight = 0;  // of preferred terms
  friend auto operator<=>(const PodTerm&, const PodTerm&) = default;
};

struct SpreadConstraint {
  std::string topology_key;
  std::int32_t max_skew = 1;
  bool is_hard = true;  // DoNotSchedule
  PodSelector selector;
  std::vector<std::string> match_label_keys;
  std::int32_t min_domains = 1;
  bool honors_affinity = true;  // nodeAffinityPolicy Honor
  bool honors_taints = false;   // nodeTaintsPolicy Honor
  friend auto operator<=>(const SpreadConstraint&, const SpreadConstraint&) = default;
};

// In the order: required affinity, required anti-affinity, preferred affinity, preferred
// anti-affinity; each in spec order.
std::vector<PodTerm> read_pod_terms(const Json& spec);
std::vector<SpreadConstraint> read_spread_constraints(const Json& spec);

}  // namespace muster::api
