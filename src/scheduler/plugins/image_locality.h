#pragma once

#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

// Prefers nodes that have the pod's images already; the more nodes have an image, the more it
// counts, so that pods do not gather where it came first.
class ImageLocality final : public Score {
 public:
  static constexpr std::string_view kName = "ImageLocality";
  std::unique_ptr<ScorePass> prepare_score(const PodClass& pods,
                                           const Cluster& cluster) const override;
};

}  // namespace muster::scheduler
