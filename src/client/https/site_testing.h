#pragma once

#include <fmt/format.h>

#include "client/kubeconfig.h"
#include "server/http/testing.h"

namespace muster::client {

// Reaches a server of this process as its administrator.
inline Kubeconfig config_for(const server::testing::Site& site) {
  Kubeconfig config;
  config.context = "test";
  config.server = fmt::format("https://127.0.0.1:{}", site.port);
  config.certificate_authority = site.authority.certificate;
  config.client_certificate = site.admin.certificate;
  config.client_key = site.admin.private_key;
  return config;
}

}  // namespace muster::client
