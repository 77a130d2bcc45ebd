#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/component.h"
#include "client/kit/work_queue.h"
#include "controllers/calls.h"

namespace muster::controllers {

// Gives every namespace what pods and tools expect to find in it: the service account "default",
// and the certificate authority of the server in the config map "kube-root-ca.crt". Both come back
// if somebody deletes them.
class NamespaceDefaults {
 public:
  // `ca_certificate` is PEM; empty where nothing is served over TLS, and then there is no config
  // map.
  NamespaceDefaults(std::string ca_certificate, client::Send send);

  static std::vector<const api::Kind*> watched_kinds();

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit);
  std::optional<Time> next_deadline() const;

 private:
  struct Home {
    bool active = false;  // exists, and is not about to go
    bool has_account = false;
    bool has_map = false;        // of the right contents
    bool has_wrong_map = false;  // of others
    bool asked = false;
    Duration backoff{};
  };

  void see(const client::Event& event);
  void see_map(const client::Event& event, Home& home) const;
  void take_in_outcome(const client::Called& called, Time now);
  void decide(const std::string& name);
  void call(const std::string& name, api::Request request);

  std::string ca_certificate_;
  Calls<std::string> calls_;  // about a namespace
  bool started_ = false;
  std::map<std::string, Home> homes_;  // by namespace
  client::WorkQueue work_;
};

}  // namespace muster::controllers
