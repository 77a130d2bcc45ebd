#pragma once

#include <optional>
#include <vector>

#include "controllers/job/job_end.h"
#include "controllers/job/pod_backoff.h"
#include "controllers/job/pod_changes.h"
#include "controllers/job/tally.h"
#include "controllers/job/tracking.h"

namespace muster::controllers {

// The result of a look at a Job. A value: the controller turns it into calls.
struct JobPlan {
  std::optional<JobEnd> end;
  PodChanges pods;
  // Pods that end with the Job are counted, so they keep their finalizer while they are deleted.
  // Others lose it first, so that nobody takes their end for a failure.
  bool keep_tracked = false;
  Tracking tracking;
  std::optional<Time> again;  // when time alone changes the plan
  bool too_many_succeeded = false;

  bool changes_pods() const { return !pods.remove.empty() || !pods.create.empty(); }
};

JobPlan plan_job(const JobState& state, PodBackoff& backoff);

}  // namespace muster::controllers
