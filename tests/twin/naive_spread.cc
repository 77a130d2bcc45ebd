// How evenly pods are spread, as upstream's PodTopologySpread judges it.
#include <algorithm>
#include <cmath>
#include <set>

#include "api/views/node_selector.h"
#include "api/views/node_view.h"
#include "twin/naive_nodes.h"
#include "twin/naive_scheduler.h"
#include "twin/naive_selector.h"

namespace muster::scheduler::twin {
namespace {

using Constraint = api::SpreadConstraint;

bool has_all(const std::vector<Constraint>& constraints, const api::Object& node) {
  return std::ranges::all_of(constraints, [&](const Constraint& constraint) {
    return api::lookup(node.meta().labels, constraint.topology_key) != nullptr;
  });
}

bool selects_pod(const Constraint& constraint, const api::Object& pod, const api::Object& other) {
  return selects(constraint.selector, other.meta().labels) &&
         has_same(constraint.match_label_keys, pod, other, true);
}

bool is_empty(const Constraint& constraint, const api::Object& pod) {
  return constraint.selector.is_empty() &&
         std::ranges::none_of(constraint.match_label_keys, [&](const std::string& key) {
           return api::lookup(pod.meta().labels, key) != nullptr;
         });
}

bool is_included(const Constraint& constraint, const api::Object& pod, const api::Object& node) {
  const api::PodNeeds& needs = needs_of(pod);
  if (constraint.honors_affinity &&
      !api::matches_selection(needs, node.meta().name, node.meta().labels))
    return false;
  if (!constraint.honors_taints) return true;
  return std::ranges::all_of(node.view<api::NodeView>().taints, [&](const api::Taint& taint) {
    return taint.effect == api::TaintEffect::PreferNoSchedule ||
           std::ranges::any_of(needs.tolerations, [&](const api::Toleration& t) {
             return (t.effect.empty() || t.effect == api::effect_name(taint.effect)) &&
                    (t.key.empty() || t.key == taint.key) &&
                    (t.op == api::TolerationOperator::Exists || t.value == taint.value);
           });
  });
}

std::int64_t count_on(const NaivePods& pods, const Constraint& constraint, const api::Object& pod,
                      const std::string& node) {
  if (is_empty(constraint, pod)) return 0;
  return std::ranges::count_if(pods, [&](const auto& entry) {
    const api::Object& other = *entry.second.first;
    return entry.second.second == node && !other.meta().deletion_time &&
           other.meta().name_space == pod.meta().name_space && selects_pod(constraint, pod, other);
  });
}

// The value of a node's label; a missing one counts as the empty value.
std::string value_at(const api::Object& node, const std::string& key) {
  const std::string* value = api::lookup(node.meta().labels, key);
  return value == nullptr ? std::string() : *value;
}

}  // namespace

// The pairs of all Services that select the pod, and what the set asks for that controls it.
api::PodSelector NaiveScheduler::default_selector(const api::Object& pod) const {
  std::map<std::string, std::string> pairs;
  const auto read_pairs = [](const api::Object& object) {
    std::map<std::string, std::string> read;
    const api::Json document = object.document();
    const auto& spec = document.at("spec").as_object();
    if (spec.contains("selector") && spec.at("selector").is_object())
      for (const auto& [key, value] : spec.at("selector").as_object())
        read[std::string(key)] = std::string(std::string_view(value.as_string()));
    return read;
  };
  for (const auto& [key, object] : sets) {
    if (object->kind().kind != "Service" || object->meta().name_space != pod.meta().name_space)
      continue;
    const auto wanted = read_pairs(*object);
    const bool selects_pod = std::ranges::all_of(wanted, [&](const auto& pair) {
      const std::string* has = api::lookup(pod.meta().labels, pair.first);
      return has != nullptr && *has == pair.second;
    });
    if (selects_pod) pairs.insert(wanted.begin(), wanted.end());
  }
  api::PodSelector selector;
  for (const api::OwnerReference& owner : pod.meta().owners) {
    const auto at = sets.find(owner.kind + "/" + pod.meta().name_space + "/" + owner.name);
    if (!owner.controller || at == sets.end() || owner.kind == "Service") continue;
    if (owner.kind == "ReplicationController") {
      if (owner.api_version != "v1") continue;
      for (const auto& [key, value] : read_pairs(*at->second)) pairs[key] = value;
    } else if (owner.api_version == "apps/v1") {
      const api::Json document = at->second->document();
      selector = api::read_pod_selector(&document.at("spec").at("selector"));
    }
  }
  for (const auto& [key, value] : pairs)
    selector.tests.push_back({key, api::SelectorOperator::In, {value}});
  selector.is_null = selector.tests.empty();
  return selector;
}

std::vector<Constraint> NaiveScheduler::constraints_of(const api::Object& pod, bool hard) const {
  std::vector<Constraint> found;
  for (const Constraint& constraint : needs_of(pod).spread)
    if (constraint.is_hard == hard) found.push_back(constraint);
  if (!needs_of(pod).spread.empty()) return found;
  const api::PodSelector selector = default_selector(pod);
  if (selector.is_null) return found;
  for (const DefaultSpread& constraint : default_spread) {
    if (constraint.is_hard != hard) continue;
    Constraint& made = found.emplace_back();
    made.topology_key = constraint.topology_key;
    made.max_skew = constraint.max_skew;
    made.is_hard = hard;
    made.selector = selector;
  }
  return found;
}

NaiveScheduler::Verdict NaiveScheduler::spread(const api::Object& pod,
                                               const std::string& name) const {
  Verdict verdict{{}, "PodTopologySpread", false};
  const std::vector<Constraint> constraints = constraints_of(pod, true);
  for (const Constraint& constraint : constraints) {
    const std::string& key = constraint.topology_key;
    const std::string* here = api::lookup(nodes.at(name)->meta().labels, key);
    if (here == nullptr) {
      verdict.reasons.emplace_back(
          "node(s) didn't match pod topology spread constraints (missing required label)");
      verdict.unresolvable = true;
      return verdict;
    }
    std::map<std::string, std::int64_t> domains;
    for (const auto& [other, node] : nodes)
      if (has_all(constraints, *node) && is_included(constraint, pod, *node))
        domains[*api::lookup(node->meta().labels, key)] += count_on(pods, constraint, pod, other);
    std::int64_t least = domains.empty() ? 0 : domains.begin()->second;
    for (const auto& [value, count] : domains) least = std::min(least, count);
    if (static_cast<std::int64_t>(domains.size()) < constraint.min_domains) least = 0;
    const std::int64_t self = selects_pod(constraint, pod, pod) ? 1 : 0;
    const std::int64_t count = domains.contains(*here) ? domains.at(*here) : 0;
    if (count + self - least <= constraint.max_skew) continue;
    verdict.reasons.emplace_back("node(s) didn't match pod topology spread constraints");
    return verdict;
  }
  return verdict;
}

std::map<std::string, std::int64_t> NaiveScheduler::spread_scores(
    const api::Object& pod, const std::vector<std::string>& feasible) const {
  std::map<std::string, std::int64_t> scores;
  const std::vector<Constraint> constraints = constraints_of(pod, false);
  if (constraints.empty()) return scores;
  const bool needs_all = !needs_of(pod).spread.empty() || !is_system_default;
  std::vector<std::string> scored;
  for (const std::string& name : feasible)
    if (!needs_all || has_all(constraints, *nodes.at(name))) scored.push_back(name);
  std::map<std::string, double> sums;
  for (const Constraint& constraint : constraints) {
    const std::string& key = constraint.topology_key;
    const bool is_host = key == "kubernetes.io/hostname";
    std::set<std::string> values;
    for (const std::string& name : scored) values.insert(value_at(*nodes.at(name), key));
    const std::size_t size = is_host ? scored.size() : values.size();
    for (const std::string& name : scored) {
      double& sum = sums[name];
      if (api::lookup(nodes.at(name)->meta().labels, key) == nullptr) continue;
      std::int64_t count = is_host ? count_on(pods, constraint, pod, name) : 0;
      for (const auto& [other, node] : nodes)
        if (!is_host && (!needs_all || has_all(constraints, *node)) &&
            is_included(constraint, pod, *node) &&
            value_at(*node, key) == value_at(*nodes.at(name), key))
          count += count_on(pods, constraint, pod, other);
      sum += static_cast<double>(count) * std::log(static_cast<double>(size + 2)) +
             static_cast<double>(constraint.max_skew - 1);
    }
  }
  std::int64_t least = 1'000'000'000;
  std::int64_t most = 0;
  for (const auto& [name, sum] : sums) {
    scores[name] = std::llround(sum);
    least = std::min(least, scores[name]);
    most = std::max(most, scores[name]);
  }
  for (auto& [name, score] : scores) score = most == 0 ? 100 : 100 * (most + least - score) / most;
  return scores;
}

}  // namespace muster::scheduler::twin
