#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/delegated_access.h"
#include "base/entropy.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/time.h"
#include "client/kubeconfig.h"
#include "client/remote/remote_client.h"
#include "server/http/status_listener.h"

namespace muster::app {

// livez, readyz and metrics of a process that works on somebody else's cluster, over HTTPS. A
// client that asks for a path that is not open needs the right to get it; the API server decides.
class ProcessStatus {
 public:
  // What is wrong, in a sentence; empty: nothing. Asked on the listener's thread.
  using Complaint = std::function<std::string()>;
  struct Options {
    std::string name;  // of the process, for its certificate and at the API server
    std::string address = "0.0.0.0";
    std::uint16_t port = 0;
    std::vector<std::string> open_paths = {};
    Complaint not_live = {};
    Complaint not_ready = {};
  };

  // `clock` and `metrics` must outlive it.
  static Result<std::unique_ptr<ProcessStatus>> start(Options options,
                                                      const client::Kubeconfig& config,
                                                      const Clock& clock, const Metrics& metrics);
  ~ProcessStatus();
  ProcessStatus(const ProcessStatus&) = delete;
  ProcessStatus& operator=(const ProcessStatus&) = delete;

 private:
  using Question = server::StatusListener::Question;
  using Reply = server::StatusListener::Reply;

  ProcessStatus(Options options, const Clock& clock, const Metrics& metrics)
      : options_(std::move(options)), clock_(clock), metrics_(metrics) {}
  Result<void> listen(const client::Kubeconfig& config);
  void answer(const Question& question, Reply reply);
  server::StatusListener::Answer content(std::string_view path) const;

  const Options options_;
  const Clock& clock_;
  const Metrics& metrics_;
  SystemEntropy entropy_;  // of the client's thread
  // A connection of its own: the writes of the process are fenced, reviews are not.
  std::unique_ptr<client::RemoteClient> client_;
  std::unique_ptr<DelegatedAccess> access_;
  std::unique_ptr<server::StatusListener> listener_;
};

// The name of this machine.
std::string host_name();

}  // namespace muster::app
