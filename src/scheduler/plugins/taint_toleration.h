#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Keeps pods off nodes whose taints they do not tolerate, and prefers nodes with few soft taints.
class TaintToleration final : public Filter, public Score, public Hints {
 public:
  static constexpr std::string_view kName = "TaintToleration";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    if (resource == Resource::TargetPod) return action == Action::UpdatePodToleration;
    return resource == Resource::Node &&
           (action == Action::Add || action == Action::UpdateNodeTaint);
  }
};

}  // namespace muster::scheduler
