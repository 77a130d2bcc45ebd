#pragma once

#include <string>

#include "base/time.h"
#include "server/core/write/registry.h"
#include "store/store.h"

namespace muster::server {

// Writes the config map kube-system/extension-apiserver-authentication, from which kube-scheduler
// and others learn at startup whose client certificates to trust. `certificate` is PEM. After
// bootstrap, on the registry's thread.
void publish_client_authority(Registry& registry, const store::Store& store,
                              const std::string& certificate, Time now);

}  // namespace muster::server
