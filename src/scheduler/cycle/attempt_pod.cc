#include <algorithm>
#include <optional>

#include "api/views/pod_view.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/cycle/fit_error.h"
#include "scheduler/framework/standings.h"

namespace muster::scheduler {
namespace {

// The node the pod was promised earlier, if it is feasible now: taken without looking further.
std::optional<NodeId> nominated_node(const PendingPod& pending, Standings& standings,
                                     const Cluster& cluster) {
  NodeId node{};
  if (pending.nominated.empty() || !cluster.find_node(pending.nominated, node)) return std::nullopt;
  const Standing& standing = standings.of_pod(pending.pod);
  if (!standing.is_looked_at(node) || !standing.is_feasible(node)) return std::nullopt;
  return node;
}

}  // namespace

// We always score every feasible node (upstream's percentageOfNodesToScore = 100): it costs us less
// than choosing which ones to leave out. Upstream's pick is then one of our maxima; ties go to the
// first by name.
Plan attempt_pod(const PendingPod& pending, Cluster& cluster, const Profile& profile) {
  Plan plan;
  plan.steps = 1;
  if (cluster.node_count() == 0) {
    plan.refusals.push_back(
        {pending.pod, Outcome::Unresolvable, "no nodes available to schedule pods", {}});
    return plan;
  }
  Standings& standings = Standings::of(cluster, profile);
  const std::uint64_t rows_read = standings.rows_read();
  std::optional<NodeId> node = nominated_node(pending, standings, cluster);
  if (!node)
    if (const auto best = standings.pick(pending.pod)) node = best->node;
  if (node) {
    plan.assignments.reserve(1);
    plan.assignments.emplace_back(pending.pod, cluster.node_name(*node));
  } else {
    plan.refusals.push_back(refuse(pending.pod, standings.of_pod(pending.pod), cluster));
  }
  plan.rows_read = standings.rows_read() - rows_read;
  standings.evict_cold();
  return plan;
}

}  // namespace muster::scheduler
