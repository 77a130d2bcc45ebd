#pragma once

#include <cstdint>

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Keeps GPU nodes usable for pods with GPUs: other pods prefer nodes without (score), and never
// take the CPUs that a node's free GPUs will need (filter).
class KeepGpuNodes final : public Filter, public Score, public Hints {
 public:
  static constexpr std::string_view kName = "KeepGpuNodes";
  explicit KeepGpuNodes(std::int64_t cpu_milli_per_gpu = 2000)
      : cpu_milli_per_gpu_(cpu_milli_per_gpu) {}

  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override;
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
  bool could_help(const api::Object& pod, const ClusterEvent& event) const override;

 private:
  std::int64_t cpu_milli_per_gpu_;
};

}  // namespace muster::scheduler
