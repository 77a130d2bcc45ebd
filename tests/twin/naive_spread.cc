// How evenly pods are spread, as upstream's PodTopologySpread judges it.
#include <algorithm>
#include <cmath>
#include <set>

#include "api/views/node_selector.h"
#include "api/views/node_view.h"
#include "twin/naive_scheduler.h"
#include "twin/naive_selector.h"

namespace muster::scheduler::twin {
namespace {

using Constraint = api::SpreadConstraint;

const api::PodNeeds& needs_of(const api::Object& pod) { return pod.view<api::PodView>().needs; }

std::vector<Constraint> constraints_of(const api::Object& pod, bool hard) {
  std::vector<Constraint> found;
  for (const Constraint& constraint : needs_of(pod).spread)
    if (constraint.is_hard == hard) found.push_back(constraint);
  return found;
}

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

using Pods = std::map<std::string, std::pair<api::ObjectPtr, std::string>>;

std::int64_t count_on(const Pods& pods, const Constraint& constraint, const api::Object& pod,
                      const std::string& node) {
  if (is_empty(constraint, pod)) return 0;
  return std::ranges::count_if(pods, [&](const auto& entry) {
    const api::Object& other = *entry.second.first;
    return entry.second.second == node && !other.meta().deletion_time &&
           other.meta().name_space == pod.meta().name_space && selects_pod(constraint, pod, other);
  });
}

}  // namespace

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
  std::vector<std::string> scored;
  for (const std::string& name : feasible)
    if (has_all(constraints, *nodes.at(name))) scored.push_back(name);
  std::map<std::string, double> sums;
  for (const Constraint& constraint : constraints) {
    const std::string& key = constraint.topology_key;
    const bool is_host = key == "kubernetes.io/hostname";
    std::set<std::string> values;
    for (const std::string& name : scored)
      values.insert(*api::lookup(nodes.at(name)->meta().labels, key));
    const std::size_t size = is_host ? scored.size() : values.size();
    for (const std::string& name : scored) {
      std::int64_t count = is_host ? count_on(pods, constraint, pod, name) : 0;
      for (const auto& [other, node] : nodes)
        if (!is_host && has_all(constraints, *node) && is_included(constraint, pod, *node) &&
            *api::lookup(node->meta().labels, key) ==
                *api::lookup(nodes.at(name)->meta().labels, key))
          count += count_on(pods, constraint, pod, other);
      sums[name] += static_cast<double>(count) * std::log(static_cast<double>(size + 2)) +
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
