#pragma once

#include <string>
#include <vector>

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Prefers nodes whose cpu and memory would be used evenly.
class NodeResourcesBalancedAllocation final : public Score {
 public:
  static constexpr std::string_view kName = "NodeResourcesBalancedAllocation";
  explicit NodeResourcesBalancedAllocation(std::vector<std::string> resources = {"cpu", "memory"})
      : resources_(std::move(resources)) {}
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;

 private:
  std::vector<std::string> resources_;
};

}  // namespace muster::scheduler
