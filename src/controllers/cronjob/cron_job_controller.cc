#include "controllers/cronjob/cron_job_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/values/cron_times.h"
#include "api/views/job_view.h"
#include "controllers/common/memory.h"
#include "controllers/cronjob/cron_job_requests.h"

namespace muster::controllers {
namespace {

using api::CronJobView;
using api::JobView;
using api::ObjectPtr;

// A run is looked for a moment after its time, so that clocks that differ a little agree on it.
constexpr std::chrono::milliseconds kLate{100};
// How long the watch may take to show a Job that was created.
constexpr std::chrono::minutes kUnseenMax{1};
// Beyond this many missed runs something is wrong with clocks or controller.
constexpr std::size_t kMissedMax = 100;
// How many Jobs are deleted in one look; that they are gone leads to the next.
constexpr std::size_t kDeletedMax = 500;

bool controls(const api::ObjectMeta& owner, const api::Object& job) {
  return std::ranges::any_of(job.meta().owners, [&](const api::OwnerReference& reference) {
    return reference.controller && reference.uid == owner.uid;
  });
}

// The uids of the Jobs that the status calls active. They may be thousands, and each Job is looked
// for among them.
std::set<std::string_view> active_uids(const CronJobView& view) {
  std::set<std::string_view> out;
  for (const CronJobView::ActiveJob& job : view.active) out.insert(job.uid);
  return out;
}

bool is_finished(const ObjectPtr& job) { return job->view<JobView>().is_finished(); }

// Those beyond the limit, by when they started; those that never did are the youngest.
std::vector<ObjectPtr> surplus(std::vector<ObjectPtr> jobs, std::int64_t kept) {
  const auto age = [](const ObjectPtr& job) {
    const auto start = job->view<JobView>().status.start_time;
    return std::make_tuple(!start.has_value(), start.value_or(Time{}),
                           std::string_view(job->meta().name));
  };
  std::ranges::sort(jobs, {}, age);
  const std::size_t stay = static_cast<std::size_t>(std::max<std::int64_t>(kept, 0));
  jobs.resize(jobs.size() > stay ? jobs.size() - stay : 0);
  return jobs;
}

std::string_view end_of(const JobView& job) {
  return job.is_true("Complete") ? "Complete" : "Failed";
}

}  // namespace

CronJobController::CronJobController(api::FindTimeZone find_zone, client::ComponentContext context)
    : Controller("cronjob", std::move(context),
                 {{.kind = &cron_job_kind(), .mirror = &cron_jobs_, .keys_of = own_key},
                  {.kind = &job_kind(),
                   .mirror = &jobs_,
                   .keys_of = [this](const Change& change) { return on_job(change); }}}),
      find_zone_(std::move(find_zone)),
      jobs_({.owners = true}) {}

CronJobController::Keys CronJobController::on_job(const Change& change) {
  const api::ObjectMeta& meta = change.newest().meta();
  for (const api::OwnerReference& owner : meta.owners) {
    if (!owner.controller || owner.kind != "CronJob" || !owner.api_version.starts_with("batch/"))
      continue;
    std::string key = meta.name_space + "/" + owner.name;
    if (const auto known = memory_.find(key);
        known != memory_.end() && known->second.created && known->second.created->uid == meta.uid)
      known->second.created.reset();
    return {std::move(key)};
  }
  return {};
}

CronJobController::Jobs CronJobController::jobs_of(const api::Object& cron_job) const {
  Jobs jobs;
  for (const client::Mirror::Entry* entry : jobs_.owned_by(cron_job.meta().uid))
    if (controls(cron_job.meta(), *entry->object)) jobs.push_back(entry->object);
  return jobs;
}

void CronJobController::reconcile(const std::string& key, Time now) {
  const auto [name_space, name] = client::split_key(key);
  const ObjectPtr cron_job = cron_jobs_.find(name_space, name);
  if (cron_job == nullptr) {
    memory_.erase(key);
    return;
  }
  Memory& memory = recall(memory_, key, *cron_job);
  const Jobs jobs = jobs_of(*cron_job);
  // It came and went before the answer to its creation.
  if (memory.created && memory.created_at + kUnseenMax < now) memory.created.reset();
  delete_surplus(key, cron_job, jobs);
  // What is due is decided on the status as it is written; its change brings us back.
  if (write_status(key, *cron_job, jobs, memory, now)) return;
  if (cron_job->meta().deletion_time || cron_job->view<CronJobView>().suspend) return;
  start_what_is_due(key, cron_job, jobs, memory, now);
}

void CronJobController::delete_surplus(const std::string& key, const ObjectPtr& cron_job,
                                       const Jobs& jobs) {
  const auto& view = cron_job->view<CronJobView>();
  Jobs successful;
  Jobs failed;
  for (const ObjectPtr& job : jobs)
    if (!job->meta().deletion_time && is_finished(job))
      (job->view<JobView>().is_true("Complete") ? successful : failed).push_back(job);
  delete_jobs(key, cron_job, surplus(std::move(successful), view.successful_kept));
  delete_jobs(key, cron_job, surplus(std::move(failed), view.failed_kept));
}

bool CronJobController::write_status(const std::string& key, const api::Object& cron_job,
                                     const Jobs& jobs, Memory& memory, Time now) {
  const auto& view = cron_job.view<CronJobView>();
  CronJobStatus wanted{
      .active = {}, .last_schedule = view.last_schedule, .last_success = view.last_success};
  const std::set<std::string_view> active = active_uids(view);
  std::set<std::string_view> present;
  for (const ObjectPtr& job : jobs) {
    const api::ObjectMeta& meta = job->meta();
    present.insert(meta.uid);
    const bool known = active.contains(meta.uid);
    const auto& facts = job->view<JobView>();
    if (facts.is_finished()) {
      if (known)
        record(cron_job, "Normal", "SawCompletedJob",
               fmt::format("Saw completed job: {}, condition: {}", meta.name, end_of(facts)), now);
      if (facts.is_true("Complete") && facts.status.completion_time)
        wanted.last_success = std::max(wanted.last_success, facts.status.completion_time);
    } else if (known || api::lookup(meta.annotations, kScheduledAnnotation) != nullptr) {
      // One of ours that the status does not name: we stopped before it was written.
      if (!memory.deleted.contains(meta.uid)) wanted.active.push_back({meta.name, meta.uid});
    } else {
      record(cron_job, "Warning", "UnexpectedJob",
             fmt::format("Saw a job that the controller did not create or forgot: {}", meta.name),
             now);
    }
  }
  for (const CronJobView::ActiveJob& job : view.active)
    if (!present.contains(job.uid) && !(memory.created && memory.created->uid == job.uid) &&
        !memory.deleted.contains(job.uid))
      record(cron_job, "Normal", "MissingJob", fmt::format("Active job went missing: {}", job.name),
             now);
  std::erase_if(memory.deleted, [&](const std::string& uid) {
    return !present.contains(uid) && !active.contains(uid);
  });
  if (memory.created) wanted.active.push_back(*memory.created);
  if (memory.last_schedule)
    wanted.last_schedule = std::max(wanted.last_schedule, memory.last_schedule);

  const bool same_jobs = wanted.active.size() == view.active.size() &&
                         std::ranges::all_of(wanted.active, [&](const CronJobView::ActiveJob& job) {
                           return active.contains(job.uid);
                         });
  if (same_jobs && wanted.last_schedule == view.last_schedule &&
      wanted.last_success == view.last_success)
    return false;
  call(key, status_request(cron_job, wanted));
  return true;
}

std::optional<CronJobController::Timing> CronJobController::timing_of(const api::Object& cron_job,
                                                                      Time now) {
  const auto& view = cron_job.view<CronJobView>();
  const std::string zone = view.zone.empty() ? "UTC" : view.zone;
  auto known = zones_.find(zone);
  if (known == zones_.end()) {
    Result<api::TimeZone> found = find_zone_(zone);
    if (!found) {
      record(cron_job, "Warning", "UnknownTimeZone",
             fmt::format("invalid timeZone: \"{}\": {}", zone, found.error().message), now);
      return std::nullopt;
    }
    known = zones_.emplace(zone, std::move(*found)).first;
  }
  const Result<api::CronSchedule> schedule = api::CronSchedule::parse(view.schedule);
  if (!schedule) {
    record(
        cron_job, "Warning", "UnparseableSchedule",
        fmt::format("unparseable schedule: \"{}\" : {}", view.schedule, schedule.error().message),
        now);
    return std::nullopt;
  }
  return Timing{.schedule = *schedule, .zone = &known->second};
}

void CronJobController::start_what_is_due(const std::string& key, const ObjectPtr& cron_job,
                                          const Jobs& jobs, Memory& memory, Time now) {
  const auto& view = cron_job->view<CronJobView>();
  const std::optional<Timing> timing = timing_of(*cron_job, now);
  if (!timing) return;
  const auto& [schedule, zone] = *timing;
  if (const auto next = api::next_run(schedule, *zone, now)) work().add_at(*next + kLate, key);

  const Time since = view.last_schedule.value_or(cron_job->meta().creation_time.value_or(now));
  const std::optional<Time> run = api::latest_run(schedule, *zone, since, now);
  if (!run) return;
  if (view.starting_deadline && *run + *view.starting_deadline < now) {
    if (memory.missed != run)
      record(*cron_job, "Warning", "MissSchedule",
             fmt::format("Missed scheduled time to start a job: {}", format_time(*run)), now);
    memory.missed = run;
    return;
  }
  if (!may_start(key, cron_job, jobs, *run, memory, now)) return;
  const Time from = view.starting_deadline ? std::max(since, now - *view.starting_deadline) : since;
  if (api::count_runs(schedule, *zone, from, now, kMissedMax + 1) > kMissedMax)
    record(*cron_job, "Warning", "TooManyMissedTimes",
           "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check "
           "clock skew",
           now);
  start(key, cron_job, *run, *zone);
}

bool CronJobController::may_start(const std::string& key, const ObjectPtr& cron_job,
                                  const Jobs& jobs, Time run, Memory& memory, Time now) {
  const CronJobView::Concurrency policy = cron_job->view<CronJobView>().concurrency;
  if (policy == CronJobView::Concurrency::Allow) return true;
  Jobs running;
  for (const ObjectPtr& job : jobs)
    if (!is_finished(job)) running.push_back(job);
  if (policy == CronJobView::Concurrency::Forbid) {
    if (running.empty()) return true;
    if (memory.said != run)
      record(*cron_job, "Normal", "JobAlreadyActive",
             "Not starting job because prior execution is running and concurrency policy is Forbid",
             now);
    memory.said = run;
    return false;  // the end of the running one brings us back
  }
  std::erase_if(running,
                [](const ObjectPtr& job) { return job->meta().deletion_time.has_value(); });
  delete_jobs(key, cron_job, running);
  return running.empty();
}

void CronJobController::start(const std::string& key, const ObjectPtr& cron_job, Time run,
                              const api::TimeZone& zone) {
  call(key, create_job_request(*cron_job, run, zone),
       [this, key, cron_job, run](const client::Outcome& outcome, Time now) {
         on_started(key, cron_job, run, outcome, now);
       });
}

void CronJobController::on_started(const std::string& key, const ObjectPtr& cron_job, Time run,
                                   const client::Outcome& outcome, Time now) {
  const bool exists = !outcome && outcome.error().reason == Reason::AlreadyExists;
  if (!outcome && !exists) {
    // A namespace that is being deleted takes its CronJobs along.
    const bool ending = std::ranges::any_of(outcome.error().causes, [](const Cause& cause) {
      return cause.type == "NamespaceTerminating";
    });
    if (ending) return;
    record(*cron_job, "Warning", "FailedCreate",
           fmt::format("Error creating job: {}", outcome.error().message), now);
    return finish(key, outcome, now);
  }
  Memory& memory = recall(memory_, key, *cron_job);
  memory.last_schedule = run;
  if (outcome)
    if (const auto* made = std::get_if<api::ObjectAnswer>(&outcome->what)) {
      const api::ObjectMeta& meta = made->object->meta();
      if (jobs_.find(meta.name_space, meta.name) == nullptr) {
        memory.created = CronJobView::ActiveJob{.name = meta.name, .uid = meta.uid};
        memory.created_at = now;
      }
      record(*cron_job, "Normal", "SuccessfulCreate", fmt::format("Created job {}", meta.name),
             now);
    }
  work().forget_failures(key);
  work().add(key, now);
}

void CronJobController::delete_jobs(const std::string& key, const ObjectPtr& cron_job,
                                    const Jobs& jobs) {
  if (jobs.empty()) return;
  const std::set<std::string_view> active = active_uids(cron_job->view<CronJobView>());
  for (const ObjectPtr& job : jobs | std::views::take(kDeletedMax)) {
    api::Request request = client::delete_request(*job, std::nullopt);
    request.remove.propagation_policy = "Background";
    call(key, std::move(request),
         [this, key, cron_job, job, is_active = active.contains(job->meta().uid)](
             const client::Outcome& outcome, Time now) {
           const std::string& name = job->meta().name;
           if (outcome) {
             Memory& memory = recall(memory_, key, *cron_job);
             if (is_active) memory.deleted.insert(job->meta().uid);
             record(*cron_job, "Normal", "SuccessfulDelete", fmt::format("Deleted job {}", name),
                    now);
           } else if (outcome.error().reason != Reason::NotFound) {
             record(*cron_job, "Warning", "FailedDelete",
                    fmt::format("Deleted job: {}", outcome.error().message), now);
           }
           finish(key, outcome, now);
         });
  }
}

}  // namespace muster::controllers
