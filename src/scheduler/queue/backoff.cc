#include "scheduler/queue/backoff.h"

namespace muster::scheduler {

namespace {

Time whole_seconds(Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

}  // namespace

Duration backoff_duration(const BackoffOptions& options, std::int32_t failures) {
  if (failures <= 0 || options.max <= Duration::zero()) return Duration::zero();
  const std::int64_t initial = options.initial.count();
  const std::int64_t ceiling = options.max.count();
  const int doublings = failures - 1;
  const bool capped = doublings >= 63 || initial > (ceiling >> doublings);
  return Duration{capped ? ceiling : initial << doublings};
}

Time backoff_expiry(Time since, Duration duration) { return whole_seconds(since + duration); }

bool backing_off(Time expiry, Time now) { return expiry >= whole_seconds(now); }

Time backoff_end(Time expiry) { return expiry + std::chrono::seconds{1}; }

}  // namespace muster::scheduler
