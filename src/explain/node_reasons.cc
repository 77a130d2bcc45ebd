#include "explain/node_reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "api/views/pod_view.h"
#include "explain/group_domains.h"
#include "explain/words.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cycle/why_not.h"
#include "scheduler/framework/standings.h"

namespace muster::explain {
namespace {

constexpr std::size_t kKindsMax = 5;

// Nodes that pods are bound to by members of their tree that run.
struct Pin {
  std::string where;                     // "rack r1"; empty: anywhere
  std::vector<scheduler::NodeId> nodes;  // if there is a `where`
};

Pin pin_of(scheduler::ClusterModel& model, const api::Object& pod) {
  Pin pin;
  const std::optional<scheduler::GroupKey> leaf = model.leaf_of(pod);
  const scheduler::GroupSpec* spec = leaf ? model.forest().find(*leaf) : nullptr;
  const auto keep = [&](const scheduler::GroupSpec& group,
                        const std::vector<std::string>& runs_in) {
    const scheduler::Cluster& cluster = model.cluster();
    const GroupDomains domains(model, group);
    std::vector<scheduler::NodeId> kept;
    const auto look = [&](scheduler::NodeId node) {
      const api::Object& object = *cluster.node_object(node);
      if (std::ranges::any_of(
              runs_in, [&](const std::string& domain) { return domains.holds(domain, object); }))
        kept.push_back(node);
    };
    if (pin.where.empty())
      cluster.nodes().for_each(look);
    else
      std::ranges::for_each(pin.nodes, look);
    pin.nodes = std::move(kept);
    // The narrowest domain names them all.
    const bool is_generated = !generators_of(model, group).empty();
    if (pin.where.empty())
      pin.where = fmt::format("{} {}", is_generated ? "placement" : word_of(group.topology_key),
                              fmt::join(runs_in, " or "));
  };
  for (std::size_t level = 0; spec != nullptr && level < scheduler::kTreeDepthMax; ++level) {
    // Of a topology key it is one; generated placements may share the nodes that are used.
    if (const std::vector<std::string> domains = domains_it_runs_in(model, *spec);
        domains.size() == 1 || (!domains.empty() && !generators_of(model, *spec).empty()))
      keep(*spec, domains);
    spec = spec->parent.empty() ? nullptr
                                : model.forest().find({scheduler::GroupKind::CompositePodGroup,
                                                       spec->key.name_space, spec->parent});
  }
  return pin;
}

NodeReasons ask_for(scheduler::ClusterModel& model, const std::vector<api::ObjectPtr>& alike) {
  const api::ObjectPtr& sample = alike.front();
  scheduler::Cluster& cluster = model.cluster();
  scheduler::Standings& standings = scheduler::Standings::of(cluster, model.profile_of(*sample));
  NodeReasons reasons;
  reasons.sample = api::key_text(sample->meta());
  reasons.asks_for = asks_for(sample->view<api::PodView>().needs);
  reasons.pods = static_cast<std::int64_t>(alike.size());
  Pin pin = pin_of(model, *sample);
  reasons.where = std::move(pin.where);
  if (reasons.where.empty())
    cluster.nodes().for_each([&](scheduler::NodeId node) { pin.nodes.push_back(node); });
  reasons.nodes = static_cast<std::int64_t>(pin.nodes.size());
  if (pin.nodes.empty()) return reasons;
  const scheduler::Standing& standing = standings.of_pod(sample);
  if (const auto& everywhere = standing.refused_everywhere()) {
    reasons.refusals.emplace_back(everywhere->reason, reasons.nodes);
  } else {
    for (const scheduler::NodeId node : pin.nodes)
      reasons.accept += standing.is_looked_at(node) && standing.is_feasible(node) ? 1 : 0;
    const scheduler::Histogram why = scheduler::why_not(standing, pin.nodes);
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
  // What they ask for and whom they may meet, where they may be.
  using Kind = std::tuple<std::uint64_t, std::string, std::string>;
  std::map<Kind, std::size_t> known;
  std::vector<std::vector<api::ObjectPtr>> kinds;
  for (const api::ObjectPtr& pod : pods) {
    const Kind kind(model.cluster().class_hash(*pod), pod->meta().name_space,
                    pod->view<api::PodView>().scheduling_group);
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
