#include "scheduler/plugins/spread_constraints.h"

#include <algorithm>

#include "api/views/tolerations.h"
#include "scheduler/cache/lasting_taints.h"
#include "scheduler/plugins/node_selector.h"

namespace muster::scheduler {

std::vector<Spread> spreads_of(const PodClass& pods, const Cluster& cluster,
                               const PodTopologySpreadArgs& args, Spread::Kind kind) {
  const bool wants_hard = kind == Spread::Kind::Hard;
  std::vector<Spread> spreads;
  const api::PodNeeds& needs = *pods.needs;
  for (std::size_t i = 0; i < needs.spread.size(); ++i) {
    const api::SpreadConstraint& written = needs.spread[i];
    if (written.is_hard != wants_hard) continue;
    spreads.push_back(
        {.term = pods.terms[needs.pod_terms.size() + i],
         .selects_everything =
             cluster.find_term(pods.terms[needs.pod_terms.size() + i])->selector.is_empty(),
         .topology_key = written.topology_key,
         .max_skew = written.max_skew,
         .min_domains = written.min_domains,
         .honors_affinity = written.honors_affinity,
         .honors_taints = written.honors_taints});
  }
  if (!needs.spread.empty() || !pods.default_term) return spreads;
  for (const PodTopologySpreadArgs::Constraint& constraint : args.default_constraints)
    if (constraint.is_hard == wants_hard)
      spreads.push_back({.term = *pods.default_term,
                         .topology_key = constraint.topology_key,
                         .max_skew = constraint.max_skew});
  return spreads;
}

bool is_self(const Spread& constraint, const PodClass& pods) {
  return constraint.selects_everything || pods.is_matched_by(constraint.term);
}

NodeSet nodes_with_all(std::span<const Spread> constraints, const Cluster& cluster) {
  NodeSet nodes = cluster.nodes();
  for (const Spread& constraint : constraints) {
    const LabelColumn& column = cluster.label(constraint.topology_key);
    nodes.keep_if([&](NodeId node) { return column.values[node] != LabelValueId::Absent; });
  }
  return nodes;
}

NodeSet counted_nodes(const Spread& constraint, const PodClass& pods, const Cluster& cluster,
                      const NodeSet& among) {
  NodeSet nodes = among;
  const api::PodNeeds& needs = *pods.needs;
  if (constraint.honors_affinity && (!needs.node_selector.empty() || needs.has_required))
    nodes.keep_if([&](NodeId node) {
      const api::ObjectMeta& meta = cluster.node_object(node)->meta();
      return matches_selection(needs, meta.name, meta.labels);
    });
  if (constraint.honors_taints) {
    std::vector<char> repelled;  // by TaintSetId
    for (const std::vector<api::Taint>& taints : cluster.taint_sets())
      repelled.push_back(repels(lasting_taints(taints), needs.tolerations) ? 1 : 0);
    nodes.keep_if([&](NodeId node) { return !repelled[index_of(cluster.taint_set(node))]; });
  }
  return nodes;
}

}  // namespace muster::scheduler
