#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Devices are not allocated: pods with resource claims wait, and say so. Groups with claims are
// refused by the attempt itself, in the same words.
class DynamicResources final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "DynamicResources";
  static constexpr std::string_view kRefusal = "DynamicResources allocation is not supported";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
  bool listens(Resource, Action) const override { return false; }
};

}  // namespace muster::scheduler
