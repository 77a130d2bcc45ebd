#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/views/job_view.h"
#include "api/views/pod_view.h"
#include "base/time.h"

namespace muster::controllers {

// Keys on the pods of Jobs.
inline constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";  // finalizer
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kIndexIgnoredFailures =
    "batch.kubernetes.io/job-index-ignored-failure-count";
inline constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";

bool is_tracked(const api::Object& pod);

// A pod of a Job, as far as every look at the Job needs it.
struct JobPod {
  explicit JobPod(api::ObjectPtr pod);

  api::ObjectPtr object;
  const api::PodView* view;
  std::optional<std::int32_t> index;  // completion index; none if it says none
  bool tracked;                       // has the finalizer: not counted for good yet
  bool ready = false;

  const std::string& uid() const { return object->meta().uid; }
  bool is_deleted() const { return object->meta().deletion_time.has_value(); }
  bool succeeded() const { return view->phase == "Succeeded"; }
  bool is_active() const { return !view->is_terminal() && !is_deleted(); }
  bool is_terminating() const { return !view->is_terminal() && is_deleted(); }
  // A pod that is deleted counts as failed, unless its Job waits for the end of such pods.
  bool failed(const api::JobView& job) const;
  // What its annotations say about earlier pods of its index.
  std::int32_t index_failures() const;
  std::int32_t ignored_index_failures() const;
};

// Whether the pod names an index that the Job has.
bool has_valid_index(const JobPod& pod, const api::JobView& job);

// Read from the document, since only some looks need it.
//
// When the pod ended: its last container; otherwise when it became unready, was deleted, was made.
Time finish_time(const api::Object& pod);
// Of containers and init containers together.
std::int64_t restarts(const api::Object& pod);

// The first to go comes first: not assigned, pending, not ready, ready for the shortest time, more
// restarts, youngest.
void sort_for_removal(std::vector<const JobPod*>& pods);

}  // namespace muster::controllers
