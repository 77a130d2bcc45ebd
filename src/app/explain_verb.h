#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/cluster_reader.h"
#include "base/result.h"

namespace muster::app {

// The flags of `muster explain` as given, before they are parsed.
struct ExplainFlags {
  std::string kind;  // "podgroup", or "podgroup/train" with no name; empty: everything that waits
  std::string name;
  std::string name_space;  // empty: the context's; of everything that waits, all
  ClusterFlags cluster;
  std::string output = "text";
  std::string scheduler_config;  // a file; empty: as the server says
  std::vector<std::string> feature_gates;
};

// Reads the cluster that the kubeconfig names and explains a group or a pod of it: the text to
// print. Blocks.
Result<std::string> explain_from_cluster(const ExplainFlags& flags);

// The same of everything that waits, a line each, cut to `width` columns unless that is 0. Blocks.
Result<std::string> overview_of_cluster(const ExplainFlags& flags, std::size_t width);

}  // namespace muster::app
