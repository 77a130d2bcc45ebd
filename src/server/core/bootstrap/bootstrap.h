#pragma once

#include "base/time.h"
#include "server/core/write/registry.h"
#include "store/store.h"

namespace muster::server {

// Creates what must exist on a fresh server: namespaces, priority classes, roles, its own service.
// Idempotent: what exists stays, and roles get back what they have lost. On the registry's thread,
// before requests come in.
void bootstrap(Registry& registry, const store::Store& store, Time now);

}  // namespace muster::server
