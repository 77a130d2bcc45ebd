#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/result.h"

namespace muster::sim {

// A regular piece of a pretend cluster: zones of blocks of racks of equal nodes. Names give the
// place: node z1-b2-r3-n4 is in rack z1-b2-r3 of block z1-b2 of zone z1.
struct NodePool {
  std::string prefix = {};  // put before zone names; keeps pools apart
  int zones = 1;
  int blocks_per_zone = 1;
  int racks_per_block = 1;
  int nodes_per_rack = 1;
  std::vector<std::pair<std::string, std::string>> resources =
      {};  // quantity texts; pods defaults to 110
  api::JsonObject labels = {};
  api::JsonArray taints = {};
};

// The nodes of a pretend cluster.
struct ClusterShape {
  std::vector<NodePool> pools;
  std::vector<api::Json> nodes;  // Node manifests given one by one

  std::size_t node_count() const;
};

inline constexpr std::size_t kNodesMax = 200'000;

// "cpu=32,memory=128Gi,nvidia.com/gpu=8".
Result<std::vector<std::pair<std::string, std::string>>> parse_resources(std::string_view text);

// A cluster file: YAML documents, each either `pools: [{zones: 2, …}]` or a Kubernetes Node
// manifest. The error names the document, the member and the remedy.
Result<ClusterShape> parse_cluster_file(std::string_view text);

// The Node objects to create, in name order of the pools. Each is marked as pretend.
std::vector<api::Json> node_documents(const ClusterShape& shape);

}  // namespace muster::sim
