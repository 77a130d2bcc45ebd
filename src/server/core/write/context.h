#pragma once

#include <cstddef>

#include "api/gates/gates.h"
#include "api/inert/inert.h"
#include "base/entropy.h"
#include "base/time.h"
#include "server/core/write/role_guard.h"
#include "server/core/write/staging.h"

namespace muster::server {

class CountedUsage;

// What deciding a request may look at: the state left by all requests before it, the time it
// arrived, and where random names and UIDs come from.
struct Context {
  Staging& staging;
  Entropy& entropy;
  Time now;
  const api::Gates& gates;
  const RoleGuard& role_guard;   // may be empty
  const api::Absent& absent;     // components that do not run
  std::size_t stored_bytes_max;  // see stored_limit.h
  bool validates = true;         // see Registry::Validation
  // What has been counted of a namespace for a quota; null: all is counted at once.
  CountedUsage* usage = nullptr;
};

}  // namespace muster::server
