#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "controllers/job/job_end.h"
#include "controllers/job/tally.h"

namespace muster::controllers {

// How many pods may wait in the status to be counted.
inline constexpr std::int64_t kUncountedMax = 500;

// What the status of a Job should say now, and which pods have been noted in the stored one, so
// that their finalizers can go.
struct Tracking {
  api::JobView::Status status;
  bool changed = false;                     // `status` is not what is stored
  bool finished = false;                    // `status` says Complete or Failed for the first time
  bool suspended = false, resumed = false;  // ... that it was suspended, or resumed
  std::optional<api::Condition> blocked;    // `status` says so for the first time
  std::vector<const JobPod*> untrack;
};

// `end`: how the Job ends, if it does and none of its pods is active any more. `managed`: its pods
// are as they should be, so that what they show about suspension is true.
struct TrackingOptions {
  std::optional<JobEnd> end;
  bool managed = true;
};
Tracking track_pods(const JobState& state, const Tally& tally, const TrackingOptions& options);

// Sets a condition as Jobs have them; one that does not exist is not added to say False. True if
// that changes anything.
bool set_condition(std::vector<api::JobCondition>& conditions, const api::Condition& wanted,
                   Time now);

}  // namespace muster::controllers
