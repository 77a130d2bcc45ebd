#pragma once

#include <string>
#include <string_view>

#include "app/remote_process.h"
#include "base/result.h"

namespace muster::app {

// Reads leaderElection and clientConnection of a KubeSchedulerConfiguration into the options: what
// the text leaves out stays as it is. The text has been accepted as a configuration already; empty
// text says nothing. Invalid names the field.
struct ConnectionSettings {
  std::string kubeconfig;  // clientConnection.kubeconfig
};
Result<ConnectionSettings> read_process_settings(std::string_view text,
                                                 RemoteProcessOptions& options);

}  // namespace muster::app
