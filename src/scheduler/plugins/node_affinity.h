#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// nodeSelector and node affinity: required terms filter, preferred terms score.
class NodeAffinity final : public Filter, public Score, public Hints {
 public:
  static constexpr std::string_view kName = "NodeAffinity";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;
};

}  // namespace muster::scheduler
