#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// A pod with scheduling gates does not enter the queue.
class SchedulingGates final : public Gate, public Hints {
 public:
  static constexpr std::string_view kName = "SchedulingGates";
  std::optional<std::string> holds_back(const api::Object& pod) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    return resource == Resource::TargetPod && action == Action::UpdatePodSchedulingGatesEliminated;
  }
};

}  // namespace muster::scheduler
