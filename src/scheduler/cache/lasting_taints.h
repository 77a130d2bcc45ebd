#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/views/node_view.h"

namespace muster::scheduler {

// The taints of a node, except for those that say it is not ready. TaintToleration keeps new pods
// off such a node; it may be ready again in a moment, and until its pods are evicted nothing else
// about it has changed. So whatever counts nodes by their taints counts it as before, and need not
// start over.
inline std::vector<api::Taint> lasting_taints(std::vector<api::Taint> taints) {
  std::erase_if(taints, [](const api::Taint& taint) {
    return taint.key == "node.kubernetes.io/not-ready" ||
           taint.key == "node.kubernetes.io/unreachable";
  });
  return taints;
}

}  // namespace muster::scheduler
