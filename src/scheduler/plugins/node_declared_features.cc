#include "scheduler/plugins/node_declared_features.h"

#include <algorithm>

namespace muster::scheduler {
namespace {

bool declares_all(const api::Object& node, const std::vector<std::string_view>& features) {
  const auto& declared = node.view<api::NodeView>().declared_features;
  return std::ranges::all_of(features, [&](std::string_view feature) {
    return std::ranges::binary_search(declared, feature, std::less<>{});
  });
}

class FeaturesPass final : public FilterPass {
 public:
  FeaturesPass(const PodClass& pods, const Cluster& cluster) : pods_(pods), cluster_(cluster) {}

  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override {
    const api::ObjectPtr& object = cluster_.node_object(node);
    return object != nullptr && declares_all(*object, pods_.needs->features);
  }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) didn't match Pod's required features", Remedy::None);
  }

 private:
  const PodClass& pods_;
  const Cluster& cluster_;
};

}  // namespace

std::unique_ptr<FilterPass> NodeDeclaredFeatures::prepare_filter(const PodClass& pods,
                                                                 const Cluster& cluster) const {
  if (pods.needs->features.empty()) return nullptr;
  return std::make_unique<FeaturesPass>(pods, cluster);
}

bool NodeDeclaredFeatures::could_help(const api::Object& pod, const ClusterEvent& event) const {
  if (event.resource != Resource::Node || event.after == nullptr) return false;
  if (event.action != Action::Add && event.action != Action::UpdateNodeDeclaredFeature)
    return false;
  const auto& features = pod.view<api::PodView>().needs.features;
  return declares_all(*event.after, features) &&
         (event.before == nullptr || !declares_all(*event.before, features));
}

}  // namespace muster::scheduler
