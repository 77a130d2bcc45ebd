#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::server {

// A certificate and its key, in PEM.
struct Credential {
  std::string certificate;
  std::string private_key;
};

// Whether the certificate and the key can be read and belong together.
bool is_pair(const Credential& credential);

// A new certificate authority (P-256, valid ten years), e.g. name "kubernetes-ca".
Result<Credential> make_authority(const std::string& name, Time now);

struct ServingNames {
  std::vector<std::string> dns;
  std::vector<std::string> addresses;
};
Result<Credential> make_serving_certificate(const Credential& authority, const ServingNames& names,
                                            Time now);

// A client certificate: user = common name, groups = organizations.
struct ClientIdentity {
  std::string user;
  std::vector<std::string> groups;
};
Result<Credential> make_client_certificate(const Credential& authority,
                                           const ClientIdentity& subject, Time now);

// A kubeconfig for one cluster, user and context, all data inline.
struct KubeconfigOptions {
  std::string server;  // https://127.0.0.1:6443
  std::string ca_certificate;
  Credential client;
  std::string cluster_name = "muster";
  std::string user_name = "kubernetes-admin";
};
std::string make_kubeconfig(const KubeconfigOptions& options);

}  // namespace muster::server
