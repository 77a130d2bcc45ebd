#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// A pod that names its node runs there or nowhere.
class NodeName final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "NodeName";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource resource, Action action) const override {
    return resource == Resource::Node && action == Action::Add;
  }
};

}  // namespace muster::scheduler
