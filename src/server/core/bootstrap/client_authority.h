#pragma once

#include <string>

#include "base/time.h"
#include "server/core/write/registry.h"

namespace muster::server {

// Tells servers that stand beside this one whose client certificates to believe: writes the config
// map kube-system/extension-apiserver-authentication, which kube-scheduler and others read at their
// start. `certificate` is PEM. After bootstrap, on the registry's thread.
void publish_client_authority(Registry& registry, const std::string& certificate, Time now);

}  // namespace muster::server
