#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/https/https_client.h"
#include "explain/objects.h"

namespace muster::app {

// The flags that name the cluster a verb asks, as given.
struct ClusterFlags {
  std::string kubeconfig;
  std::string context;
};
void add_cluster_flags(CLI::App& verb, ClusterFlags& flags);

// A client of the cluster that the flags, $KUBECONFIG or ~/.kube/config name. Nothing is sent yet.
Result<client::HttpsClient> connect(const ClusterFlags& flags, std::string_view verb);

// What to read of a cluster: all that attempts depend on; or nodes, pods and groups.
enum class Reading : std::uint8_t { ForAttempts, ForLooking };
// Reads it all, each kind by a reflector that is used once. A kind that the server does not serve
// has no objects; PodGroups must be served if `needs_groups`. Blocks. The error names every right
// that is missing.
Result<explain::Objects> read_cluster(client::HttpsClient& client, Reading reading,
                                      bool needs_groups = false);

// The Workloads and groups of one namespace and nothing else, so no rights beyond it are needed.
Result<explain::Objects> read_groups(client::HttpsClient& client, const std::string& name_space);

}  // namespace muster::app
