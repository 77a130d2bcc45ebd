#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Upstream's PodTopologySpreadArgs. Default constraints are for pods that have none of their own
// and belong to a service or a set; they select what that selects.
struct PodTopologySpreadArgs {
  struct Constraint {
    std::string topology_key;
    std::int32_t max_skew = 1;
    bool is_hard = false;  // DoNotSchedule
  };
  // defaultingType List: these; System: kubernetes.io/hostname with skew 3 and
  // topology.kubernetes.io/zone with skew 5, both ScheduleAnyway.
  bool is_system_defaulting = true;
  std::vector<Constraint> default_constraints = {};

  std::vector<Constraint> defaults() const;
  std::vector<std::string> default_keys() const;
};

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
