#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "store/store.h"

namespace muster::store {

// Forgets history after a while: a change is kept for five to ten minutes, so that a watcher that
// was cut off can resume where it was. The work is done in slices between commits.
//
// The clock does not restart with the process: the moment and the revision from which the next pass
// counts are remembered in the store, so a process that is restarted every minute compacts too.
class Compactor {
 public:
  static constexpr Duration kEvery = std::chrono::minutes{5};
  static constexpr Duration kRetryAfter = std::chrono::minutes{1};

  explicit Compactor(Store& store) : store_(store), waypoint_(store.waypoint()) {}

  // Whether run_once() has something to do now.
  bool due(Time now) const;
  // One slice, a few milliseconds; call it while due(). By the store's writer. After a failure it
  // is not due for a while.
  Result<void> run_once(Time now);

 private:
  Result<void> start_over(Time now);
  Result<void> advance(Time now);

  Store& store_;
  std::optional<Waypoint> waypoint_;
  bool compacting_ = false;  // up to the waypoint's revision
  Time not_before_ = Time::min();
};

}  // namespace muster::store
