#include "scheduler/crowded_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace muster::scheduler {
namespace {

// Amounts as the table keeps them: cpu in thousandths.
std::string amount(std::string_view resource, std::int64_t value) {
  return fmt::format("{}{}", value, resource == "cpu" ? "m" : "");
}

void add_excess(std::string& text, std::string_view resource, std::int64_t requested,
                std::int64_t allocatable) {
  if (requested <= 0 || requested <= allocatable) return;
  text += fmt::format("{}{} {} of {}", text.empty() ? "" : ", ", resource,
                      amount(resource, requested), amount(resource, allocatable));
}

}  // namespace

CrowdedNodes::CrowdedNodes(ClusterModel& model, Report& report, Metrics* metrics)
    : model_(model), report_(report) {
  if (metrics != nullptr)
    crowded_ = metrics->gauge("muster_overcommitted_nodes",
                              "Nodes whose pods request more than the nodes have");
}

// What is requested beyond what there is; empty if nothing is.
std::string CrowdedNodes::excess(NodeId node) const {
  const Cluster& cluster = model_.cluster();
  std::string text;
  for (std::size_t id = 0; id < cluster.resource_count(); ++id) {
    const ResourceColumns& resource = cluster.resource(static_cast<ResourceId>(id));
    add_excess(text, resource.name, resource.requested[node], resource.allocatable[node]);
  }
  add_excess(text, "pods", cluster.pods_on()[node], cluster.pod_slots()[node]);
  return text;
}

bool CrowdedNodes::is_crowded(std::string_view name) const {
  NodeId node{};
  if (!model_.cluster().find_node(name, node)) return false;
  const Cluster& cluster = model_.cluster();
  for (std::size_t id = 0; id < cluster.resource_count(); ++id) {
    const ResourceColumns& resource = cluster.resource(static_cast<ResourceId>(id));
    const std::int64_t requested = resource.requested[node];
    if (requested > 0 && requested > resource.allocatable[node]) return true;
  }
  return cluster.pods_on()[node] > cluster.pod_slots()[node];
}

// Room that is kept for a waiting pod may be counted at the moment: whether the node is really
// crowded is decided by run().
void CrowdedNodes::look(std::string_view node, Time now) {
  if (is_crowded(node))
    suspects_.try_emplace(std::string(node), Suspect{now + kPatience});
  else if (const auto at = suspects_.find(node); at != suspects_.end())
    at->second.due = now;
}

void CrowdedNodes::run(Time now) {
  const auto is_due = [now](const auto& suspect) { return suspect.second.due <= now; };
  if (std::ranges::none_of(suspects_, is_due)) return;
  model_.nominations().count_nobody();
  for (auto at = suspects_.begin(); at != suspects_.end();) {
    auto& [name, suspect] = *at;
    NodeId node{};
    const bool is_known = model_.cluster().find_node(name, node);
    if (suspect.due <= now && (!is_known || !is_crowded(name))) {
      reported_ -= suspect.is_reported ? 1 : 0;
      at = suspects_.erase(at);
      continue;
    }
    if (suspect.due <= now) {
      suspect.due = Time::max();  // until something about it changes
      reported_ += suspect.is_reported ? 0 : 1;
      if (!std::exchange(suspect.is_reported, true))
        report_.overcommitted(*model_.cluster().node_object(node),
                              "pods request more than the node has: " + excess(node), now);
    }
    ++at;
  }
  crowded_.set(static_cast<double>(reported_));
}

std::optional<Time> CrowdedNodes::next_deadline() const {
  std::optional<Time> next;
  for (const auto& [name, suspect] : suspects_)
    if (suspect.due != Time::max()) next = std::min(next.value_or(suspect.due), suspect.due);
  return next;
}

}  // namespace muster::scheduler
