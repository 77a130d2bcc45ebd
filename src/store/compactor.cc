#include "store/compactor.h"

#include <algorithm>

namespace muster::store {

bool Compactor::due(Time now) const {
  return now >= not_before_ && (compacting_ || trimming_to_ || is_time(now) || is_over());
}

bool Compactor::is_time(Time now) const {
  // A waypoint in the future was set by a clock that has gone back since: start over.
  return !waypoint_ || waypoint_->at > now || now - waypoint_->at >= kEvery;
}

bool Compactor::is_over() const {
  const HistorySize size = store_.history();
  return size.bytes > max_.bytes || size.changes > max_.changes;
}

Result<void> Compactor::run_once(Time now) {
  if (!due(now)) return {};
  Result<void> done = advance(now);
  not_before_ = done ? Time::min() : now + kRetryAfter;
  return done;
}

Result<void> Compactor::advance(Time now) {
  if (!trimming_to_ && is_over())
    trimming_to_ =
        store_.revision_that_leaves({.changes = max_.changes / 2, .bytes = max_.bytes / 2});
  if (trimming_to_) {
    if (TRY(store_.compact(*trimming_to_)) >= *trimming_to_) trimming_to_.reset();
    return {};
  }
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
