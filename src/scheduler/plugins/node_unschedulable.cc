#include "scheduler/plugins/node_unschedulable.h"

#include "api/views/pod_view.h"
#include "api/views/tolerations.h"

namespace muster::scheduler {
namespace {

bool tolerates_cordon(const api::PodNeeds& needs) {
  const api::Taint cordon{"node.kubernetes.io/unschedulable", "", api::TaintEffect::NoSchedule};
  return tolerates(needs.tolerations, cordon);
}

class NodeUnschedulablePass final : public FilterPass {
 public:
  explicit NodeUnschedulablePass(const Cluster& cluster) : cluster_(cluster) {}

  void narrow(NodeSet& candidates) const override {
    const std::uint64_t* cordoned = cluster_.unschedulable().words();
    for (std::size_t w = 0; w < candidates.word_count(); ++w) candidates.words()[w] &= ~cordoned[w];
  }
  bool admits(NodeId node) const override { return !cluster_.unschedulable().contains(node); }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) were unschedulable", Remedy::None);
  }

 private:
  const Cluster& cluster_;
};

bool is_cordoned(const api::ObjectPtr& node) { return node->view<api::NodeView>().unschedulable; }

}  // namespace

std::unique_ptr<FilterPass> NodeUnschedulable::prepare_filter(const PodClass& pods,
                                                              const Cluster& cluster) const {
  if (tolerates_cordon(*pods.needs)) return nullptr;
  return std::make_unique<NodeUnschedulablePass>(cluster);
}

bool NodeUnschedulable::could_help(const api::Object&, const ClusterEvent& event) const {
  if (event.resource == Resource::TargetPod)
    return event.action == Action::UpdatePodToleration && event.after != nullptr &&
           tolerates_cordon(event.after->view<api::PodView>().needs);
  if (event.resource != Resource::Node || event.after == nullptr) return false;
  if (event.action != Action::Add && event.action != Action::UpdateNodeTaint) return false;
  return !is_cordoned(event.after) && (event.before == nullptr || is_cordoned(event.before));
}

}  // namespace muster::scheduler
