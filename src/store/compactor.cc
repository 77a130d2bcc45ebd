#include "store/compactor.h"

#include <algorithm>

namespace muster::store {

bool Compactor::due(Time now) const {
  if (now < not_before_) return false;
  // A waypoint in the future was set by a clock that has gone back since: start over.
  return compacting_ || !waypoint_ || waypoint_->at > now || now - waypoint_->at >= kEvery;
}

Result<void> Compactor::run_once(Time now) {
  if (!due(now)) return {};
  Result<void> done = advance(now);
  not_before_ = done ? Time::min() : now + kRetryAfter;
  return done;
}

Result<void> Compactor::advance(Time now) {
  if (!compacting_ && (!waypoint_ || waypoint_->at > now)) return start_over(now);
  compacting_ = true;
  // Of a store that was restored from an older backup, the revision may not be there yet.
  const Revision target = std::min(waypoint_->revision, store_.revision());
  if (TRY(store_.compact(target)) < target) return {};
  compacting_ = false;
  return start_over(now);
}

Result<void> Compactor::start_over(Time now) {
  const Waypoint next{.at = now, .revision = store_.revision()};
  TRY(store_.remember(next));
  waypoint_ = next;
  return {};
}

}  // namespace muster::store
