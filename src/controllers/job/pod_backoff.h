#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/time.h"
#include "controllers/job/job_pods.h"

namespace muster::controllers {

// How long a Job waits before it makes pods in place of those that failed: 10 s after the first
// failure since the last success, twice as long after each further one, at most 10 minutes. Only
// the controller knows it, so a new one starts without pauses.
class PodBackoff {
 public:
  // Pods that ended and are not yet counted for good. Each is counted once, however often it is
  // passed.
  void observe(std::span<const JobPod* const> succeeded, std::span<const JobPod* const> failed);
  // When the next pods may be made; none: now.
  std::optional<Time> until() const;

  std::int32_t failures() const { return failures_; }

 private:
  std::int32_t failures_ = 0;  // since the last success
  std::optional<Time> last_failure_;
  // Uids of what was looked at and may be handed in again.
  std::set<std::string, std::less<>> seen_;
};

// The pause after this many failures in a row.
Duration backoff_pause(std::int64_t failures);

}  // namespace muster::controllers
