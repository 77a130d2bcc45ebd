#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/http/message.h"
#include "server/http/query.h"

namespace muster::server {

struct HealthCheck {
  std::string_view name;  // "ping"
  bool good = true;
};

// /healthz, /livez, /readyz and their single checks (wire.md 1.7). `endpoint` is the word in the
// path.
struct HealthQuestion {
  std::string_view endpoint;
  std::string_view check;  // empty: all
};
HttpResponse answer_health(const HealthQuestion& question, const Query& query,
                           std::span<const HealthCheck> checks);

}  // namespace muster::server
