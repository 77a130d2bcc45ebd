#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;

namespace muster::loader {

// The cluster under load: where it is, and as whom to speak to it. One TLS context for all
// connections.
struct Target {
  std::string host;
  std::string port;
  std::string server_name;    // whose certificate the server must show
  std::string authorization;  // the header's value; empty with a client certificate
  bool verify = true;
  std::shared_ptr<ssl_ctx_st> tls;
};

// What the current context of the kubeconfig says; an empty path: the one kubectl would use.
Result<Target> read_target(const std::string& kubeconfig_path);

}  // namespace muster::loader
