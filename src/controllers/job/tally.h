#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "api/views/job_view.h"
#include "base/time.h"
#include "controllers/job/index_set.h"
#include "controllers/job/job_pods.h"

namespace muster::controllers {

// Everything that is known when a Job is looked at.
struct JobState {
  const api::JobView& job;
  bool deleting = false;         // somebody deleted the Job
  std::span<const JobPod> pods;  // its own, in the order of their names
  Time now;
  bool may_create = true;  // the group of its pods exists, or they need none
  // Why it may not, if that is worth a condition.
  std::optional<api::Condition> blocked = {};
};

// The state of a Job's pods.
//
// A pod that ended is counted in steps, so that no crash counts it twice or not at all: its uid
// goes into the status (uncountedTerminatedPods; a success of an Indexed Job into
// completedIndexes), then its finalizer goes, then the uid is replaced by a higher count.
struct Tally {
  std::vector<const JobPod*> active;
  std::int32_t ready = 0;        // of the active ones
  std::int32_t terminating = 0;  // deleted and still running
  // Ended, and the status does not mention them yet.
  std::vector<const JobPod*> new_succeeded;
  std::vector<const JobPod*> new_failed;
  // Counted, about to be counted, and new; failures that a rule ignores are left out.
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;

  // Indexed Jobs only.
  IndexSet succeeded_before;  // as the status has them
  IndexSet succeeded_indexes;
  IndexSet failed_indexes;  // with backoffLimitPerIndex
  // By index: the failed pod that keeps its finalizer until it has been replaced, because it is the
  // one that knows how often its index has failed.
  std::map<std::int32_t, const JobPod*> held_back;
};

Tally count_pods(const JobState& state);

}  // namespace muster::controllers
