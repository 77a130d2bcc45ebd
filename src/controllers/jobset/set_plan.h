#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/views/job_set_view.h"
#include "base/time.h"
#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/set_status.h"

namespace muster::controllers {

// Everything a look at a JobSet starts from.
struct SetState {
  const api::JobSetView& set;
  std::string_view name;
  ChildJobs jobs;
  Time now;
  bool has_service = false;
  // Whether the groups that its pods will name are there. No Job is made or resumed before.
  bool groups_are_ready = true;
  // Why not, if a user must do something about it.
  std::optional<api::Condition> blocked = {};
};

// How many Jobs are made in one look; and deleted, suspended, resumed and resized.
inline constexpr std::size_t kNewJobsMax = 500;
inline constexpr std::size_t kJobChangesMax = 500;

// The result of a look at a JobSet. A value: the controller turns it into calls. Refers to the
// state it was made from.
struct SetPlan {
  explicit SetPlan(const api::JobSetView& set) : status(set) {}

  struct NewJob {
    std::size_t entry = 0;
    std::int32_t index = 0;
  };
  std::vector<NewJob> create;
  std::vector<const ChildJob*> remove;
  std::vector<const ChildJob*> suspend;
  std::vector<const ChildJob*> resume;
  std::vector<const ChildJob*> resize;  // parallelism and completions have changed
  bool make_service = false;
  bool expired = false;  // it has ended, and its time is over
  SetStatus status;
  std::optional<Time> again;  // when time alone changes the plan
};

SetPlan plan_set(const SetState& state);

}  // namespace muster::controllers
