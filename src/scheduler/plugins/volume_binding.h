#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "scheduler/framework/binding_plugin.h"
#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

struct VolumeBindingArgs {
  Duration bind_timeout = std::chrono::seconds{600};  // bindTimeoutSeconds
  // How good it is to use this much of the storage, both in percent; linear between
  // points.
  struct Point {
    std::int64_t utilization = 0;
    std::int64_t score = 0;
  };
  std::vector<Point> shape = {{0, 100}, {100, 0}};
};

// Sends pods where their volumes are or can be, and gets claims that wait for their first consumer
// bound before the pod.
class VolumeBinding final : public Filter,
                            public Score,
                            public Hints,
                            public Reserve,
                            public PreBind {
 public:
  static constexpr std::string_view kName = "VolumeBinding";
  VolumeBinding() = default;
  explicit VolumeBinding(VolumeBindingArgs args) : args_(std::move(args)) {}

  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    switch (resource) {
      case Resource::Node: return action == Action::Add || action == Action::UpdateNodeLabel;
      case Resource::CSIDriver: return action == Action::Update;
      case Resource::StorageClass:
      case Resource::PersistentVolume:
      case Resource::PersistentVolumeClaim:
      case Resource::CSINode:
      case Resource::CSIStorageCapacity: return action == Action::Add || action == Action::Update;
      default: return false;
    }
  }
  Answer reserve(const api::ObjectPtr& pod, std::string_view node, Cluster& cluster) const override;
  void unreserve(const api::ObjectPtr& pod, Cluster& cluster) const override;
  std::unique_ptr<Preparation> prepare_binding(const api::ObjectPtr& pod, std::string_view node,
                                               const Cluster& cluster) const override;

 private:
  VolumeBindingArgs args_;
};

}  // namespace muster::scheduler
