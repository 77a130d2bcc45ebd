#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Keeps pods off cordoned nodes, unless they tolerate the taint that stands for it.
class NodeUnschedulable final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    if (resource == Resource::TargetPod) return action == Action::UpdatePodToleration;
    return resource == Resource::Node &&
           (action == Action::Add || action == Action::UpdateNodeTaint);
  }
};

}  // namespace muster::scheduler
