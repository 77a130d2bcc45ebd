#pragma once

#include <string>
#include <string_view>

#include "app/remote_process.h"
#include "base/result.h"

namespace muster::app {

// The lease by which a scheduler is elected if nobody names another: one that serves
// default-scheduler takes that of kube-scheduler, so that the two never decide at once.
std::string usual_lease(bool serves_default_scheduler);

// Reads leaderElection and clientConnection of a KubeSchedulerConfiguration into the options: what
// the text leaves out stays as it is. The text has been accepted as a configuration already; empty
// text says nothing. Invalid names the field.
struct ConnectionSettings {
  std::string kubeconfig;  // clientConnection.kubeconfig
};
Result<ConnectionSettings> read_process_settings(std::string_view text,
                                                 RemoteProcessOptions& options);

// Refuses a lease that does not keep a kube-scheduler from deciding about the same pods: one that
// serves default-scheduler must hold kube-scheduler's. Without an election it only warns.
Result<void> check_lease(const RemoteProcessOptions::Election& election,
                         bool serves_default_scheduler);

}  // namespace muster::app
