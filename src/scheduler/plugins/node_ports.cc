#include "scheduler/plugins/node_ports.h"

#include <algorithm>
#include <span>

#include "api/views/pod_view.h"

namespace muster::scheduler {
namespace {

// 0.0.0.0 stands for every address, on either side.
bool conflict(const api::HostPort& a, const api::HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip == "0.0.0.0" || b.ip == "0.0.0.0");
}

bool conflict(std::span<const api::HostPort> wanted, std::span<const api::HostPort> used) {
  return std::ranges::any_of(wanted, [&](const api::HostPort& port) {
    return std::ranges::any_of(used,
                               [&](const api::HostPort& other) { return conflict(port, other); });
  });
}

class NodePortsPass final : public FilterPass {
 public:
  NodePortsPass(const PodClass& pods, const Cluster& cluster) : pods_(pods), cluster_(cluster) {}

  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override {
    return !conflict(pods_.needs->host_ports, cluster_.ports_on(node));
  }
  // A second pod of the class would want the same ports as the first.
  Exactness cap(CapColumn& at_most) const override {
    for (std::size_t row = 0; row < cluster_.rows(); ++row)
      at_most.data()[row] = std::min(at_most.data()[row], cap_at(static_cast<NodeId>(row)));
    return Exactness::PerNode;
  }
  std::int32_t cap_at(NodeId node) const override { return admits(node) ? 1 : 0; }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) didn't have free ports for the requested pod ports",
                           Remedy::Eviction);
  }

 private:
  const PodClass& pods_;
  const Cluster& cluster_;
};

}  // namespace

std::unique_ptr<FilterPass> NodePorts::prepare_filter(const PodClass& pods,
                                                      const Cluster& cluster) const {
  if (pods.needs->host_ports.empty()) return nullptr;
  return std::make_unique<NodePortsPass>(pods, cluster);
}

bool NodePorts::could_help(const api::Object& pod, const ClusterEvent& event) const {
  if (event.resource == Resource::Node) return event.action == Action::Add;
  if (event.resource != Resource::AssignedPod || event.action != Action::Delete ||
      event.before == nullptr)
    return false;
  const auto& gone = event.before->view<api::PodView>();
  return (!gone.node_name.empty() || !gone.nominated_node.empty()) &&
         conflict(pod.view<api::PodView>().needs.host_ports, gone.needs.host_ports);
}

}  // namespace muster::scheduler
