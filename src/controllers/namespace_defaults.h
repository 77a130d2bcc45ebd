#pragma once

#include <string>

#include "client/kit/controller.h"

namespace muster::controllers {

// Gives every namespace what pods and tools expect to find in it: the service account "default",
// and the certificate authority of the server in the config map "kube-root-ca.crt". Both are
// restored if somebody deletes them. Its keys are names of namespaces.
class NamespaceDefaults final : public client::Controller {
 public:
  // `ca_certificate` is PEM; empty where nothing is served over TLS, and then there is no config
  // map.
  NamespaceDefaults(std::string ca_certificate, client::ComponentContext context);

 private:
  static Keys namespace_of(const Change& change);
  void reconcile(const std::string& key, Time now) override;

  const std::string ca_certificate_;
  client::Mirror namespaces_;
  client::Mirror accounts_;     // those named "default"
  client::Mirror config_maps_;  // those named "kube-root-ca.crt"
};

}  // namespace muster::controllers
