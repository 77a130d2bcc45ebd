#pragma once

#include <cstdint>

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Upstream's InterPodAffinityArgs.
struct InterPodAffinityArgs {
  std::int32_t hard_pod_affinity_weight = 1;  // 0..100
  bool ignore_preferred_terms_of_existing_pods = false;
};

// Pods that want to be near other pods, or away from them, as a node label divides the nodes; and
// what other pods want of them.
class InterPodAffinity final : public Filter, public Score, public Hints {
 public:
  static constexpr std::string_view kName = "InterPodAffinity";
  explicit InterPodAffinity(InterPodAffinityArgs args = {}) : args_(args) {}
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
      case Resource::TargetPod: return action == Action::UpdatePodLabel;
      case Resource::Node: return action == Action::Add || action == Action::UpdateNodeLabel;
      case Resource::Namespace: return true;
      default: return false;
    }
  }

 private:
  InterPodAffinityArgs args_;
};

}  // namespace muster::scheduler
