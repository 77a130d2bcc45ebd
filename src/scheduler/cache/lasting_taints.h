#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/views/node_view.h"

namespace muster::scheduler {

// The taints of a node but for those that say that it is not ready. Such a node takes no new pods,
// which is for TaintToleration to say; it may be ready again in a moment, and until its pods are
// evicted nothing else about it has changed: what counts nodes by their taints counts it as before,
// and need not start over.
inline std::vector<api::Taint> lasting_taints(std::vector<api::Taint> taints) {
  std::erase_if(taints, [](const api::Taint& taint) {
    return taint.key == "node.kubernetes.io/not-ready" ||
           taint.key == "node.kubernetes.io/unreachable";
  });
  return taints;
}

}  // namespace muster::scheduler
