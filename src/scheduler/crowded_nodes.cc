#include "scheduler/crowded_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "api/views/pod_view.h"

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
  cluster.resources().for_each([&](const ResourceColumns& resource) {
    if (resource.offers > 0)
      add_excess(text, resource.name, resource.requested[node], resource.allocatable[node]);
  });
  add_excess(text, "pods", cluster.pods_on()[node], cluster.pod_slots()[node]);
  return text;
}

bool CrowdedNodes::is_crowded_by(const api::Object& pod, std::string_view name) const {
  const Cluster& cluster = model_.cluster();
  NodeId node{};
  if (!cluster.find_node(name, node)) return false;
  if (cluster.pods_on()[node] > cluster.pod_slots()[node]) return true;
  const auto is_beyond = [&](std::string_view resource_name) {
    ResourceId id{};
    if (!cluster.find_resource(resource_name, id)) return false;
    const ResourceColumns& resource = cluster.resource(id);
    return resource.requested[node] > resource.allocatable[node];
  };
  const api::Amounts& usage = pod.view<api::PodView>().needs.usage;
  return (usage.cpu_milli > 0 && is_beyond("cpu")) || (usage.memory > 0 && is_beyond("memory")) ||
         (usage.ephemeral_storage > 0 && is_beyond("ephemeral-storage")) ||
         std::ranges::any_of(usage.scalars,
                             [&](const auto& scalar) { return is_beyond(scalar.first); });
}

void CrowdedNodes::set_due(const std::string& node, Suspect& suspect, Time due) {
  due_.erase({suspect.due, node});
  suspect.due = due;
  if (due != Time::max()) due_.emplace(due, node);
}

void CrowdedNodes::suspect(std::string_view node, Time now) {
  const auto [at, is_new] = suspects_.try_emplace(std::string(node));
  if (is_new) set_due(at->first, at->second, now + kPatience);
}

// At the moment, room kept for a waiting pod may be counted too: run() decides whether the node is
// really crowded.
void CrowdedNodes::came(const api::Object& pod, std::string_view node, Time now) {
  if (is_crowded_by(pod, node)) suspect(node, now);
}

void CrowdedNodes::left(std::string_view node, Time now) {
  if (const auto at = suspects_.find(node); at != suspects_.end())
    set_due(at->first, at->second, now);
}

void CrowdedNodes::changed(std::string_view name, Time now) {
  left(name, now);
  NodeId node{};
  if (model_.cluster().find_node(name, node) && !excess(node).empty()) suspect(name, now);
}

void CrowdedNodes::run(Time now) {
  if (due_.empty() || due_.begin()->first > now) return;
  model_.nominations().count_nobody();
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto at = suspects_.find(due_.begin()->second);
    auto& [name, suspect] = *at;
    set_due(name, suspect, Time::max());
    NodeId node{};
    const bool is_known = model_.cluster().find_node(name, node);
    const std::string beyond = is_known ? excess(node) : "";
    if (beyond.empty()) {
      reported_ -= suspect.is_reported ? 1 : 0;
      suspects_.erase(at);
      continue;
    }
    if (std::exchange(suspect.is_reported, true)) continue;
    ++reported_;
    report_.overcommitted(*model_.cluster().node_object(node),
                          "pods request more than the node has: " + beyond, now);
  }
  crowded_.set(static_cast<double>(reported_));
}

std::optional<Time> CrowdedNodes::next_deadline() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace muster::scheduler
