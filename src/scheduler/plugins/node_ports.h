#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// A node has each host port once: pods that want the same one keep apart.
class NodePorts final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "NodePorts";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    return (resource == Resource::Node && action == Action::Add) ||
           (resource == Resource::AssignedPod && action == Action::Delete);
  }
};

}  // namespace muster::scheduler
