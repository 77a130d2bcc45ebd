#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Refuses pods that ask for something no plugin judges yet, naming the fields
// (api::unjudged_fields): a pod waits rather than being bound where it must not run.
class UnjudgedFields final : public Filter, public Hints {
 public:
  static constexpr std::string_view kName = "UnjudgedFields";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  // Nothing that happens in a cluster changes what we can judge.
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
};

}  // namespace muster::scheduler
