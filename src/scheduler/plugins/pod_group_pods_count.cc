#include "scheduler/plugins/pod_group_pods_count.h"

#include <algorithm>

namespace muster::scheduler {

void PodGroupPodsCount::normalize(std::span<std::int64_t> scores) const {
  std::int64_t most = 1;
  for (const std::int64_t score : scores) most = std::max(most, score);
  for (std::int64_t& score : scores) score = score * 100 / most;
}

}  // namespace muster::scheduler
