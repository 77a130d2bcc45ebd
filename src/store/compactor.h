#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "store/store.h"

namespace muster::store {

// How much history is kept by default, however young it is.
inline constexpr HistorySize kHistoryMax{.changes = 1'000'000, .bytes = std::size_t{1} << 30U};

// Forgets history after a while: a change is kept for five to ten minutes, so that a watcher that
// was cut off can resume where it was. Beyond the limits the oldest is forgotten earlier, until
// half of them is left. The work is done in slices between commits.
//
// The clock does not restart with the process: the moment and the revision from which the next pass
// counts are remembered in the store, so a process that is restarted every minute compacts too.
class Compactor {
 public:
  static constexpr Duration kEvery = std::chrono::minutes{5};
  static constexpr Duration kRetryAfter = std::chrono::minutes{1};

  explicit Compactor(Store& store, const HistorySize& max = kHistoryMax)
      : store_(store), max_(max), waypoint_(store.waypoint()) {}

  // Whether run_once() has something to do now.
  bool due(Time now) const;
  // Writes come faster than the disk frees the room of what was forgotten: the part that is not
  // free yet is twice as large as history may be.
  bool is_behind() const { return store_.unreclaimed() > 2 * max_.bytes; }
  // One slice, a few milliseconds; call it while due(). By the store's writer. After a failure it
  // is not due for a while.
  Result<void> run_once(Time now);

 private:
  Result<void> start_over(Time now);
  Result<void> advance(Time now);
  bool is_time(Time now) const;
  bool is_over() const;

  Store& store_;
  const HistorySize max_;
  std::optional<Waypoint> waypoint_;
  bool compacting_ = false;              // up to the waypoint's revision, as its time has come
  std::optional<Revision> trimming_to_;  // as there is too much
  Time not_before_ = Time::min();
};

}  // namespace muster::store
