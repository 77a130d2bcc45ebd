#include "scheduler/plugins/node_name.h"

namespace muster::scheduler {
namespace {

class NodeNamePass final : public FilterPass {
 public:
  NodeNamePass(const PodClass& pods, const Cluster& cluster)
      : cluster_(cluster), names_{pods.node_name} {}

  void narrow(NodeSet& candidates) const override {
    NodeId node{};
    const bool stays = cluster_.find_node(names_.front(), node) && candidates.contains(node);
    candidates.clear();
    if (stays) candidates.insert(node);
  }
  bool admits(NodeId node) const override { return cluster_.node_name(node) == names_.front(); }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) didn't match the requested node name", Remedy::None);
  }
  const std::vector<std::string>* only_on() const override { return &names_; }

 private:
  const Cluster& cluster_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<FilterPass> NodeName::prepare_filter(const PodClass& pods,
                                                     const Cluster& cluster) const {
  if (pods.node_name.empty()) return nullptr;
  return std::make_unique<NodeNamePass>(pods, cluster);
}

bool NodeName::could_help(const api::Object&, const ClusterEvent& event) const {
  return event.resource == Resource::Node && event.action == Action::Add;
}

}  // namespace muster::scheduler
