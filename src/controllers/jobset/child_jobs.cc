#include "controllers/jobset/child_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
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

using JobStatus = api::JobSetView::JobStatus;

// The entries of a set by name, with what the status says of each: a set may have a thousand, and
// as many Jobs that name them.
class Entries {
 public:
  explicit Entries(const api::JobSetView& set) : statuses_(set.jobs.size(), nullptr) {
    for (std::size_t i = 0; i < set.jobs.size(); ++i) places_.emplace(set.jobs[i].name, i);
    for (const JobStatus& status : set.status.jobs)
      if (const auto at = places_.find(status.name);
          at != places_.end() && statuses_[at->second] == nullptr)
        statuses_[at->second] = &status;
  }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto at = places_.find(name);
    return at == places_.end() ? std::nullopt : std::optional(at->second);
  }
  const JobStatus* status(std::size_t entry) const { return statuses_[entry]; }  // may be null

 private:
  std::map<std::string_view, std::size_t> places_;
  std::vector<const JobStatus*> statuses_;
};

std::int32_t restarts_in(const JobStatus* status, std::int32_t index) {
  const auto at = static_cast<std::size_t>(index);
  return status != nullptr && at < status->restarts.size() ? status->restarts[at] : 0;
}

// Whether the Job is one that this attempt wants.
bool is_current(const api::JobSetView& set, const Entries& entries, ChildJob& job) {
  const api::ObjectMeta& meta = job.object->meta();
  const std::string* name = api::lookup(meta.labels, job_set::kJobName);
  const auto index = number_label(meta, job_set::kJobIndex);
  const auto attempt = number_label(meta, job_set::kRestartAttempt);
  if (name == nullptr || !index || !attempt || *attempt < set.status.restarts) return false;
  const auto entry = entries.find(*name);
  if (!entry || *index < 0 || *index >= set.jobs[*entry].replicas) return false;
  job.entry = *entry;
  job.index = *index;
  return number_label(meta, job_set::kJobRestartAttempt).value_or(0) >=
         restarts_in(entries.status(*entry), *index);
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
  const Entries entries(set);
  for (const api::ObjectPtr& object : owned) {
    ChildJob job{.object = object, .view = &object->view<api::JobView>()};
    if (!is_current(set, entries, job))
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
  return restarts_in(status == set.status.jobs.end() ? nullptr : &*status, index);
}

std::vector<api::JobSetView::JobStatus> count_jobs(const api::JobSetView& set,
                                                   const ChildJobs& jobs) {
  std::vector<JobStatus> out;
  const Entries entries(set);
  for (std::size_t i = 0; i < set.jobs.size(); ++i) {
    JobStatus status{.name = set.jobs[i].name};
    if (const JobStatus* before = entries.status(i)) {
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
