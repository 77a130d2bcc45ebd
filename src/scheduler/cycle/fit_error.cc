#include "scheduler/cycle/fit_error.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "scheduler/cycle/kept_report.h"
#include "scheduler/cycle/why_not.h"

namespace muster::scheduler {
namespace {

Refusal refusal_of(const api::ObjectPtr& pod, const Histogram& histogram, std::size_t nodes) {
  return {pod, histogram.hopeless ? Outcome::Unresolvable : Outcome::Unschedulable,
          histogram.text(nodes), histogram.plugins};
}

std::optional<Refusal> refused_everywhere(const api::ObjectPtr& pod, const Standing& standing,
                                          std::size_t nodes) {
  const auto& everywhere = standing.refused_everywhere();
  if (!everywhere) return std::nullopt;
  Refusal refusal{pod,
                  Outcome::Unresolvable,
                  fmt::format("0/{} nodes are available: {}.", nodes, everywhere->reason),
                  {}};
  if (!everywhere->plugin.empty()) refusal.plugins.emplace_back(everywhere->plugin);
  for (const std::string_view name : standing.narrowing())
    if (name != everywhere->plugin) refusal.plugins.emplace_back(name);
  return refusal;
}

}  // namespace

Refusal refuse(const api::ObjectPtr& pod, const Standing& standing, Cluster& cluster) {
  const std::size_t nodes = cluster.node_count();
  if (auto refusal = refused_everywhere(pod, standing, nodes)) return std::move(*refusal);
  return refusal_of(pod, why_not_kept(standing, cluster), nodes);
}

Refusal refuse(const api::ObjectPtr& pod, const Standing& standing, std::span<const NodeId> nodes) {
  if (auto refusal = refused_everywhere(pod, standing, nodes.size())) return std::move(*refusal);
  return refusal_of(pod, why_not(standing, nodes), nodes.size());
}

}  // namespace muster::scheduler
