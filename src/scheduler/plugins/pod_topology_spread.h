#pragma once

#include <memory>
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/spread_args.h"

namespace muster::scheduler {

// Spreads pods evenly over the values of node labels: strictly (filter) or as well as possible
// (score).
class PodTopologySpread final : public Filter, public Score, public Hints {
 public:
  static constexpr std::string_view kName = "PodTopologySpread";
  explicit PodTopologySpread(PodTopologySpreadArgs args = {});
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    switch (resource) {
      case Resource::AssignedPod:
        return action == Action::Add || action == Action::Delete ||
               action == Action::UpdatePodLabel;
      case Resource::TargetPod:
        return action == Action::UpdatePodLabel || action == Action::UpdatePodToleration;
      case Resource::Node:
        return action == Action::Add || action == Action::Delete ||
               action == Action::UpdateNodeLabel || action == Action::UpdateNodeTaint;
      default: return false;
    }
  }

 private:
  PodTopologySpreadArgs args_;
};

}  // namespace muster::scheduler
