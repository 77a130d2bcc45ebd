#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace muster::app {

// The flags of `muster explain` as they were written, before they are understood.
struct ExplainFlags {
  std::string kind;  // "podgroup", or "podgroup/train" with no name
  std::string name;
  std::string name_space;  // empty: the context's
  std::string kubeconfig;
  std::string context;
  std::string output = "text";
  std::string scheduler_config;  // a file; empty: as the server says
  std::vector<std::string> feature_gates;
};

// Reads the cluster that the kubeconfig names and explains a group or a pod of it: the text to
// print. Blocks.
Result<std::string> explain_from_cluster(const ExplainFlags& flags);

}  // namespace muster::app
