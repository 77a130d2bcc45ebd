#include "scheduler/queue/backoff.h"

#include <cmath>

namespace muster::scheduler {

namespace {

Time whole_seconds(Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

}  // namespace

Duration backoff_duration(const BackoffOptions& options, std::int32_t failures, std::size_t pods) {
  if (failures <= 0 || options.max <= Duration::zero()) return Duration::zero();
  // Upstream counts in nanoseconds and scales the ceiling in floating point; sqrt is exact to the
  // last bit.
  using std::chrono::nanoseconds;
  const std::int64_t initial = nanoseconds{options.initial}.count();
  std::int64_t ceiling = nanoseconds{options.max}.count();
  if (pods > 1)
    ceiling = static_cast<std::int64_t>(static_cast<double>(ceiling) *
                                        std::sqrt(static_cast<double>(pods)));
  const int doublings = failures - 1;
  const bool capped = doublings >= 63 || initial > (ceiling >> doublings);
  return std::chrono::floor<Duration>(nanoseconds{capped ? ceiling : initial << doublings});
}

Time backoff_expiry(Time since, Duration duration) { return whole_seconds(since + duration); }

bool backing_off(Time expiry, Time now) { return expiry >= whole_seconds(now); }

Time backoff_end(Time expiry) { return expiry + std::chrono::seconds{1}; }

}  // namespace muster::scheduler
