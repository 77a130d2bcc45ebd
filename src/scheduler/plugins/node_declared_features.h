#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Keeps pods off nodes that do not declare a feature their spec needs.
class NodeDeclaredFeatures final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "NodeDeclaredFeatures";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    return resource == Resource::Node &&
           (action == Action::Add || action == Action::UpdateNodeDeclaredFeature);
  }
};

}  // namespace muster::scheduler
