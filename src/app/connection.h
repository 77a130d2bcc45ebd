#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "base/result.h"
#include "client/kubeconfig.h"
#include "client/remote/served_kinds.h"

namespace muster::app {

// The flags that say which cluster is meant, as given.
struct ConnectionFlags {
  std::string kubeconfig;  // a file, or "in-cluster"
  std::string context;
};
void add_connection_flags(CLI::App& verb, ConnectionFlags& flags);

// A cluster that answered: how to reach it, and what it serves.
struct ForeignCluster {
  client::Kubeconfig config;
  std::string version;  // "v1.36.3"
  client::ServedKinds served;
};

// Without a flag: as kubectl chooses, or the cluster this pod runs in. Blocks.
Result<client::Kubeconfig> load_connection(const ConnectionFlags& flags);
// Asks the server what it is. Blocks.
Result<ForeignCluster> discover_cluster(client::Kubeconfig config);

// What the cluster offers that a scheduler can use, and what is missing, a line each.
std::string describe(const ForeignCluster& cluster);

}  // namespace muster::app
