#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"
#include "server/http/query.h"
#include "store/health.h"

namespace muster::server {

struct HealthCheck {
  std::string_view name;  // "ping"
  bool good = true;
};
// The checks of an endpoint ("livez"), judged now. Any thread.
using HealthChecks = std::function<std::vector<HealthCheck>(std::string_view endpoint)>;
// Upstream's checks, as far as we have what they check. A store that cannot be written is neither
// ready nor healthy, but alive, since a restart would not fix a full disk. `store` may be
// null.
HealthChecks health_checks(const store::Health* store);

// /healthz, /livez, /readyz and their single checks. `endpoint` is the word in the
// path.
struct HealthQuestion {
  std::string_view endpoint;
  std::string_view check;  // empty: all
};
HttpResponse answer_health(const HealthQuestion& question, const Query& query,
                           std::span<const HealthCheck> checks);

}  // namespace muster::server
