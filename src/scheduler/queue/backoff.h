#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::scheduler {

struct BackoffOptions {
  Duration initial = std::chrono::seconds{1};
  Duration max = std::chrono::seconds{10};  // 0: never back off
};

// How often in a row an entity was turned away. Errors outweigh rejections while there are any.
struct Failures {
  std::int32_t rejections = 0;
  std::int32_t errors = 0;

  std::int32_t count() const { return errors > 0 ? errors : rejections; }
};

// How long to wait after `failures` in a row: doubles from `initial` up to `max`. 0 without
// failures. The same for a group: the cost of a large one is handled elsewhere (next_costly_turn).
Duration backoff_duration(const BackoffOptions& options, std::int32_t failures);

// Backoff is counted in whole seconds, as upstream does where pods may be popped from
// it: entities that expire within one second become runnable together, in queue
// order.
Time backoff_expiry(Time since, Duration duration);
// The expiry second itself still counts.
bool backing_off(Time expiry, Time now);
// The first moment at which backing_off is false.
Time backoff_end(Time expiry);

}  // namespace muster::scheduler
