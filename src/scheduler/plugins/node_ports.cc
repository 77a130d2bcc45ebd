#include "scheduler/plugins/node_ports.h"

#include <algorithm>

#include "api/views/pod_view.h"
#include "scheduler/cache/host_ports.h"

namespace muster::scheduler {
namespace {

class NodePortsPass final : public FilterPass {
 public:
  NodePortsPass(const PodClass& pods, const Cluster& cluster) : pods_(pods), cluster_(cluster) {}

  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override {
    return !is_any_held(pods_.needs->host_ports, cluster_.ports_on(node));
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
  if (gone.needs.host_ports.empty() || (gone.node_name.empty() && gone.nominated_node.empty()))
    return false;
  HeldPorts freed;
  add_ports(freed, gone.needs.host_ports);
  return is_any_held(pod.view<api::PodView>().needs.host_ports, freed);
}

}  // namespace muster::scheduler
