#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Keeps pods in the zones and regions that the labels of their volumes name.
class VolumeZone final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "VolumeZone";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    switch (resource) {
      case Resource::Node: return action == Action::Add || action == Action::UpdateNodeLabel;
      case Resource::StorageClass: return action == Action::Add;
      case Resource::PersistentVolume:
      case Resource::PersistentVolumeClaim:
        return action == Action::Add || action == Action::Update;
      default: return false;
    }
  }
};

}  // namespace muster::scheduler
