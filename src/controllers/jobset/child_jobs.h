#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/views/job_set_view.h"
#include "api/views/job_view.h"
#include "base/time.h"

namespace muster::controllers {

// One Job of a JobSet.
struct ChildJob {
  api::ObjectPtr object;
  const api::JobView* view = nullptr;
  std::size_t entry = 0;   // which of JobSetView::jobs
  std::int32_t index = 0;  // among the Jobs of that entry

  const std::string& name() const { return object->meta().name; }
  bool is_deleted() const { return object->meta().deletion_time.has_value(); }
  // As many of its pods as run at a time are ready, or have succeeded.
  bool is_ready() const;
  // When it failed; none if it did not.
  std::optional<Time> failed_at() const;
};

// The Jobs of a JobSet by their state, each list in the order of names.
struct ChildJobs {
  std::vector<ChildJob> active;
  std::vector<ChildJob> succeeded;
  std::vector<ChildJob> failed;
  // Of an earlier attempt, or of no existing entry: to be deleted.
  std::vector<ChildJob> previous;

  bool all_empty() const {
    return active.empty() && succeeded.empty() && failed.empty() && previous.empty();
  }
};

ChildJobs sort_jobs(const api::JobSetView& set, const std::vector<api::ObjectPtr>& owned);

// How often a single Job was restarted on its own, according to the status.
std::int32_t job_restarts(const api::JobSetView& set, std::size_t entry, std::int32_t index);

// The entries of status.replicatedJobsStatus that these Jobs lead to; restarts stay as they are.
std::vector<api::JobSetView::JobStatus> count_jobs(const api::JobSetView& set,
                                                   const ChildJobs& jobs);

// <set>-<replicated job>-<index>.
std::string child_name(const std::string& set, const std::string& replicated_job,
                       std::int32_t index);

}  // namespace muster::controllers
