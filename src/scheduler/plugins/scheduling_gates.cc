#include "scheduler/plugins/scheduling_gates.h"

#include <fmt/ranges.h>

#include "api/views/pod_view.h"

namespace muster::scheduler {

std::optional<std::string> SchedulingGates::holds_back(const api::Object& pod) const {
  const auto& gates = pod.view<api::PodView>().scheduling_gates;
  if (gates.empty()) return std::nullopt;
  return fmt::format("waiting for scheduling gates: [{}]", fmt::join(gates, " "));
}

bool SchedulingGates::could_help(const api::Object&, const ClusterEvent& event) const {
  return event.resource == Resource::TargetPod &&
         event.action == Action::UpdatePodSchedulingGatesEliminated;
}

}  // namespace muster::scheduler
