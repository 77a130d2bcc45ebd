#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Keeps pods apart that name the same disk, or the same claim for one pod at a time.
class VolumeRestrictions final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    return resource == Resource::AssignedPod
               ? action == Action::Delete
               : action == Action::Add &&
                     (resource == Resource::Node || resource == Resource::PersistentVolumeClaim);
  }
};

}  // namespace muster::scheduler
