#include "app/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/log.h"

namespace muster::app {
namespace {

// The store keeps up to 256 files open, and opens more while it compacts or is backed up.
constexpr std::size_t kReserved = 512;

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, 1U << 30U));
}

server::ClientLimits within_descriptors(server::ClientLimits limits, std::size_t descriptors) {
  // With few descriptors, half of them are the store's.
  const std::size_t kept = std::min(kReserved, descriptors / 2);
  const std::size_t places = descriptors - kept;
  server::Share& all = limits.connections;
  if (all.total + all.reserved <= places) return limits;
  all.reserved = std::min(all.reserved, places / 8);
  all.total = places - all.reserved;
  limits.connections_per_address = std::min(limits.connections_per_address, all.total);
  limits.connections_unproven = std::min(limits.connections_unproven, all.total / 2);
  log(LogLevel::Warning,
      "{} open files are allowed, so at most {} connections are: raise the limit (ulimit -n) for "
      "more",
      descriptors, all.total);
  return limits;
}

}  // namespace muster::app
