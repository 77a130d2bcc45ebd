// Scores of nodes, and what they add up to.
#include <algorithm>
#include <cmath>
#include <vector>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "twin/naive_nodes.h"
#include "twin/naive_scheduler.h"

namespace muster::scheduler::twin {
namespace {

double balance(const std::vector<double>& fractions) {
  double deviation = 0;
  if (fractions.size() == 2) deviation = std::fabs((fractions[0] - fractions[1]) / 2);
  return std::trunc((1 - deviation) * 100);
}

double share(std::int64_t requested, std::int64_t capacity) {
  return std::min(1.0, static_cast<double>(requested) / static_cast<double>(capacity));
}

}  // namespace

std::map<std::string, std::int64_t> NaiveScheduler::scores(const api::Object& pod,
                                                           const std::string& name) const {
  const api::PodNeeds& needs = needs_of(pod);
  const auto& view = nodes.at(name)->view<api::NodeView>();
  const Used used = used_on(name);
  std::map<std::string, std::int64_t> scores;
  std::int64_t& taints = scores["TaintToleration"];
  for (const api::Taint& taint : view.taints)
    taints += taint.effect == api::TaintEffect::PreferNoSchedule &&
              !tolerated(taint, needs.tolerations, true);
  std::int64_t& preferred = scores["NodeAffinity"];
  for (const api::PreferredNodeTerm& term : needs.preferred)
    preferred += term_matches(term.term, *nodes.at(name)) ? term.weight : 0;
  scores["NodeResourcesFit"] = least_allocated(needs, view, used);
  scores["VolumeBinding"] = storage.binding_score(pod, *nodes.at(name));
  scores["ImageLocality"] = image_score(pod, name);
  if (needs.usage.cpu_milli != 0 || needs.usage.memory != 0)
    scores["NodeResourcesBalancedAllocation"] = balanced(needs, view, used);
  return scores;
}

std::int64_t NaiveScheduler::least_allocated(const api::PodNeeds& needs, const api::NodeView& node,
                                             const Used& used) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  const auto least = [&](std::int64_t capacity, std::int64_t requested) {
    if (capacity == 0) return;
    ++weights;
    if (requested <= capacity) sum += (capacity - requested) * 100 / capacity;
  };
  least(node.allocatable.cpu_milli, used.nonzero_cpu + needs.score_cpu_milli);
  least(node.allocatable.memory, used.nonzero_memory + needs.score_memory);
  return weights == 0 ? 0 : sum / weights;
}

std::int64_t NaiveScheduler::balanced(const api::PodNeeds& needs, const api::NodeView& node,
                                      const Used& used) {
  std::vector<double> with;
  std::vector<double> without;
  const auto add = [&](const char* name, std::int64_t capacity, std::int64_t more) {
    if (capacity == 0) return;
    const auto at = used.requested.find(name);
    const std::int64_t before = at == used.requested.end() ? 0 : at->second;
    without.push_back(share(before, capacity));
    with.push_back(share(before + more, capacity));
  };
  add("cpu", node.allocatable.cpu_milli, needs.usage.cpu_milli);
  add("memory", node.allocatable.memory, needs.usage.memory);
  return 50 + (50 + static_cast<std::int64_t>(balance(with)) -
               static_cast<std::int64_t>(balance(without))) /
                  2;
}

std::int64_t NaiveScheduler::image_score(const api::Object& pod, const std::string& node) const {
  const std::vector<std::string>& wanted = pod.view<api::PodView>().images;
  if (wanted.empty()) return 0;
  std::int64_t sum = 0;
  for (const std::string& name : wanted)
    if (const auto at = images_.find(name); at != images_.end() && at->second.nodes.contains(node))
      sum += static_cast<std::int64_t>(
          static_cast<double>(at->second.size) *
          (static_cast<double>(at->second.nodes.size()) / static_cast<double>(nodes.size())));
  const std::int64_t least = std::int64_t{23} * 1024 * 1024;
  const std::int64_t most =
      std::int64_t{1000} * 1024 * 1024 * static_cast<std::int64_t>(wanted.size());
  return 100 * (std::clamp(sum, least, most) - least) / (most - least);
}

std::map<std::string, std::int64_t> NaiveScheduler::totals(const api::Object& pod,
                                                           const MayUse& may_use) const {
  std::map<std::string, std::map<std::string, std::int64_t>> by_node;
  std::int64_t taints_most = 0;
  std::int64_t preferred_most = 0;
  for (const auto& [name, node] : nodes) {
    if (!may_use(*node) || !filter(pod, name).reasons.empty()) continue;
    auto& here = by_node[name] = scores(pod, name);
    taints_most = std::max(taints_most, here["TaintToleration"]);
    preferred_most = std::max(preferred_most, here["NodeAffinity"]);
  }
  std::vector<std::string> feasible;
  for (const auto& [name, here] : by_node) feasible.push_back(name);
  std::map<std::string, std::int64_t> affine = affinity_scores(pod, feasible);
  std::map<std::string, std::int64_t> even = spread_scores(pod, feasible);
  std::map<std::string, std::int64_t> totals;
  for (auto& [name, here] : by_node) {
    std::int64_t& total = totals[name];
    total = here["NodeResourcesFit"] + here["NodeResourcesBalancedAllocation"];
    total += here["VolumeBinding"] + here["ImageLocality"];
    total += 3 * (taints_most == 0 ? 100 : 100 - here["TaintToleration"] * 100 / taints_most);
    if (preferred_most > 0) total += 2 * (here["NodeAffinity"] * 100 / preferred_most);
    total += 2 * affine[name] + 2 * even[name];
  }
  return totals;
}

}  // namespace muster::scheduler::twin
