#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/component_thread.h"
#include "app/connection.h"
#include "app/rival_look.h"
#include "base/result.h"
#include "base/time.h"
#include "client/https/call.h"
#include "client/remote/rate_limit.h"

namespace muster::app {

// How a process runs on a cluster that is not ours, whatever its components do.
struct RemoteProcessOptions {
  std::string name;  // "muster-scheduler": who it is in logs and at the server
  client::RateLimit::Options rate = {.per_second = 50, .burst = 100};

  client::Projection project = {};  // what components keep of objects they watch
  client::Maker make = {};          // and how

  struct Election {
    bool on = true;
    std::string name_space = "kube-system";
    std::string name;
    Duration lease_duration = std::chrono::seconds{15};
    Duration renew_deadline = std::chrono::seconds{10};
    Duration retry_period = std::chrono::seconds{2};
  } election = {};

  // Asked at the start, and again by a process that has just been elected, which may have waited
  // for days: before its components act. Empty: nobody is looked for.
  FindRival find_rival = {};

  // Where livez, readyz and metrics are served over HTTPS; port 0: nowhere. Paths that are not open
  // require the right to get them (DelegatedAccess).
  std::string bind_address = "0.0.0.0";
  std::uint16_t secure_port = 10259;
  std::vector<std::string> open_paths = {"/healthz", "/livez", "/readyz"};
};

struct RemoteComponent {
  std::string_view name;
  ComponentThread::Make make;
};

// What to run on a cluster, once it has said what it serves. Fails with a sentence.
using ChooseComponents =
    std::function<Result<std::vector<RemoteComponent>>(const ForeignCluster& cluster)>;

// Runs the components until SIGINT or SIGTERM; only while this process leads, if it takes part in
// an election. A server that is away, at the start or later, is waited for. At the end nothing new
// is sent, what is under way may end, and the lease is handed over. The error is one sentence: what
// is in the way, who else is at work, how the lease was lost, or what the server has ceased or
// begun to serve.
Result<void> run_remote_process(const RemoteProcessOptions& options,
                                const client::Kubeconfig& config, const ChooseComponents& choose);

// "host_3f2c…": this process among those that could lead.
std::string process_identity();

}  // namespace muster::app
