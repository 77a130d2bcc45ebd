#include "controllers/job/pod_backoff.h"

#include <algorithm>
#include <utility>

namespace muster::controllers {
namespace {

constexpr Duration kFirst = std::chrono::seconds{10};
constexpr Duration kMost = std::chrono::minutes{10};

}  // namespace

Duration backoff_pause(std::int64_t failures) {
  if (failures <= 0) return Duration{0};
  Duration pause = kFirst;
  for (std::int64_t i = 1; i < failures && pause < kMost; ++i) pause *= 2;
  return std::min(pause, kMost);
}

void PodBackoff::observe(std::span<const JobPod* const> succeeded,
                         std::span<const JobPod* const> failed) {
  std::set<std::string, std::less<>> handed_in;
  std::optional<Time> success;
  for (const JobPod* pod : succeeded) {
    if (handed_in.insert(pod->uid()); seen_.contains(pod->uid())) continue;
    success = std::max(success.value_or(Time{}), finish_time(*pod->object));
  }
  if (success && (!last_failure_ || *last_failure_ <= *success)) {
    failures_ = 0;
    last_failure_.reset();
  }
  for (const JobPod* pod : failed) {
    if (handed_in.insert(pod->uid()); seen_.contains(pod->uid())) continue;
    const Time at = finish_time(*pod->object);
    if (success && at <= *success) continue;
    ++failures_;
    last_failure_ = std::max(last_failure_.value_or(at), at);
  }
  seen_ = std::move(handed_in);
}

std::optional<Time> PodBackoff::until() const {
  if (failures_ == 0 || !last_failure_) return std::nullopt;
  return *last_failure_ + backoff_pause(failures_);
}

}  // namespace muster::controllers
