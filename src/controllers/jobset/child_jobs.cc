#include "controllers/jobset/child_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "controllers/jobset/job_set_keys.h"

namespace muster::controllers {
namespace {

std::optional<std::int32_t> number_label(const api::ObjectMeta& meta, std::string_view key) {
  const std::string* text = api::lookup(meta.labels, key);
  if (text == nullptr) return std::nullopt;
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

// Whether the Job is one that this attempt wants.
bool is_current(const api::JobSetView& set, ChildJob& job) {
  const api::ObjectMeta& meta = job.object->meta();
  const std::string* name = api::lookup(meta.labels, job_set::kJobName);
  const auto index = number_label(meta, job_set::kJobIndex);
  const auto attempt = number_label(meta, job_set::kRestartAttempt);
  if (name == nullptr || !index || !attempt || *attempt < set.status.restarts) return false;
  const auto entry = std::ranges::find(set.jobs, *name, &api::JobSetView::ReplicatedJob::name);
  if (entry == set.jobs.end() || *index < 0 || *index >= entry->replicas) return false;
  job.entry = static_cast<std::size_t>(entry - set.jobs.begin());
  job.index = *index;
  return number_label(meta, job_set::kJobRestartAttempt).value_or(0) >=
         job_restarts(set, job.entry, job.index);
}

}  // namespace

bool ChildJob::is_ready() const {
  const std::int32_t pods =
      std::min(view->parallelism, view->completions.value_or(view->parallelism));
  return view->status.succeeded + view->status.ready.value_or(0) >= pods;
}

std::optional<Time> ChildJob::failed_at() const {
  const api::JobCondition* failed = view->condition("Failed");
  if (failed == nullptr || failed->status != "True") return std::nullopt;
  return failed->last_transition.value_or(Time{});
}

ChildJobs sort_jobs(const api::JobSetView& set, const std::vector<api::ObjectPtr>& owned) {
  ChildJobs out;
  for (const api::ObjectPtr& object : owned) {
    ChildJob job{.object = object, .view = &object->view<api::JobView>()};
    if (!is_current(set, job))
      out.previous.push_back(std::move(job));
    else if (job.view->is_true("Complete"))
      out.succeeded.push_back(std::move(job));
    else if (job.view->is_true("Failed"))
      out.failed.push_back(std::move(job));
    else
      out.active.push_back(std::move(job));
  }
  return out;
}

std::int32_t job_restarts(const api::JobSetView& set, std::size_t entry, std::int32_t index) {
  const auto status =
      std::ranges::find(set.status.jobs, set.jobs[entry].name, &api::JobSetView::JobStatus::name);
  if (status == set.status.jobs.end()) return 0;
  const auto at = static_cast<std::size_t>(index);
  return at < status->restarts.size() ? status->restarts[at] : 0;
}

std::vector<api::JobSetView::JobStatus> count_jobs(const api::JobSetView& set,
                                                   const ChildJobs& jobs) {
  std::vector<api::JobSetView::JobStatus> out;
  for (const api::JobSetView::ReplicatedJob& entry : set.jobs) {
    api::JobSetView::JobStatus status{.name = entry.name};
    const auto before =
        std::ranges::find(set.status.jobs, entry.name, &api::JobSetView::JobStatus::name);
    if (before != set.status.jobs.end()) {
      status.restarts = before->restarts;
      status.counted_restarts = before->counted_restarts;
    }
    out.push_back(std::move(status));
  }
  for (const ChildJob& job : jobs.active) {
    if (job.is_ready()) ++out[job.entry].ready;
    if (job.view->status.active > 0) ++out[job.entry].active;
    if (job.view->suspend) ++out[job.entry].suspended;
  }
  for (const ChildJob& job : jobs.succeeded) ++out[job.entry].succeeded;
  for (const ChildJob& job : jobs.failed) ++out[job.entry].failed;
  return out;
}

std::string child_name(const std::string& set, const std::string& replicated_job,
                       std::int32_t index) {
  return fmt::format("{}-{}-{}", set, replicated_job, index);
}

}  // namespace muster::controllers
