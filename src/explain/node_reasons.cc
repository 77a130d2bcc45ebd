#include "explain/node_reasons.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "api/views/pod_view.h"
#include "explain/words.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cycle/fit_error.h"
#include "scheduler/framework/standings.h"

namespace muster::explain {
namespace {

constexpr std::size_t kKindsMax = 5;

NodeReasons ask_for(scheduler::ClusterModel& model, const std::vector<api::ObjectPtr>& alike) {
  const api::ObjectPtr& sample = alike.front();
  scheduler::Cluster& cluster = model.cluster();
  scheduler::Standings& standings = scheduler::Standings::of(cluster, model.profile_of(*sample));
  NodeReasons reasons;
  reasons.sample = api::key_text(sample->meta());
  reasons.asks_for = asks_for(sample->view<api::PodView>().needs);
  reasons.pods = static_cast<std::int64_t>(alike.size());
  reasons.nodes = static_cast<std::int64_t>(cluster.node_count());
  if (cluster.node_count() == 0) return reasons;
  const scheduler::Standing& standing = standings.of_pod(sample);
  if (const auto& everywhere = standing.refused_everywhere()) {
    reasons.refusals.emplace_back(everywhere->reason, reasons.nodes);
  } else {
    cluster.nodes().for_each([&](scheduler::NodeId node) {
      reasons.accept += standing.is_looked_at(node) && standing.is_feasible(node) ? 1 : 0;
    });
    const scheduler::Histogram why = scheduler::why_not(standing, cluster);
    reasons.refusals.assign(why.reasons.begin(), why.reasons.end());
    std::ranges::stable_sort(reasons.refusals, std::greater<>{},
                             [](const auto& refusal) { return refusal.second; });
  }
  standings.evict_cold();
  return reasons;
}

}  // namespace

std::vector<NodeReasons> ask_nodes(scheduler::ClusterModel& model,
                                   const std::vector<api::ObjectPtr>& pods) {
  using Kind = std::tuple<std::uint64_t, std::string>;  // what they ask for, whom they may meet
  std::map<Kind, std::size_t> known;
  std::vector<std::vector<api::ObjectPtr>> kinds;
  for (const api::ObjectPtr& pod : pods) {
    const Kind kind(pod->view<api::PodView>().needs_hash, pod->meta().name_space);
    const auto [at, is_new] = known.emplace(kind, kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[at->second].push_back(pod);
  }
  std::ranges::stable_sort(kinds, std::greater<>{}, [](const auto& alike) { return alike.size(); });
  if (kinds.size() > kKindsMax) kinds.resize(kKindsMax);
  std::vector<NodeReasons> reasons;
  for (const auto& alike : kinds) reasons.push_back(ask_for(model, alike));
  return reasons;
}

}  // namespace muster::explain
