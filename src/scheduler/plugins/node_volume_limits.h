#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Keeps the number of attached volumes within the limits of a node's drivers, from its CSINode.
class NodeVolumeLimits final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    switch (resource) {
      case Resource::CSINode: return action == Action::Add || action == Action::Update;
      case Resource::PersistentVolumeClaim: return action == Action::Add;
      case Resource::AssignedPod:
      case Resource::VolumeAttachment: return action == Action::Delete;
      default: return false;
    }
  }
};

}  // namespace muster::scheduler
