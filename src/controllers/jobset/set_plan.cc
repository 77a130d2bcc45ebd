#include "controllers/jobset/set_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "controllers/jobset/set_policies.h"
#include "controllers/jobset/startup.h"

namespace muster::controllers {
namespace {

using api::JobSetView;
using What = SetVerdict::What;

// The others follow when the feeds have shown these.
void add(std::vector<const ChildJob*>& list, const ChildJob& job) {
  if (list.size() < kJobChangesMax) list.push_back(&job);
}

void remove_all(const std::vector<ChildJob>& jobs, SetPlan& plan) {
  for (const ChildJob& job : jobs)
    if (!job.is_deleted()) add(plan.remove, job);
}

// A set that has ended: what still runs goes, and after a while the set itself.
void plan_end(const SetState& state, SetPlan& plan) {
  remove_all(state.jobs.active, plan);
  remove_all(state.jobs.previous, plan);
  if (!state.set.ttl_s) return;
  const JobSetView& set = state.set;
  const api::JobCondition* end = set.condition(set.is_true("Completed") ? "Completed" : "Failed");
  // Beyond what a clock can show, it stays.
  constexpr std::int64_t kMost = 100LL * 366 * 24 * 3600;
  if (!end->last_transition || *set.ttl_s > kMost) return;
  const Time due = *end->last_transition + std::chrono::seconds{*set.ttl_s};
  plan.expired = due <= state.now;
  if (!plan.expired) plan.again = due;
}

void count_job_restart(const JobSetView& set, const SetVerdict& verdict, SetStatus& status) {
  JobSetView::JobStatus& entry = status.status().jobs[verdict.job->entry];
  const auto replicas = static_cast<std::size_t>(set.jobs[verdict.job->entry].replicas);
  const auto index = static_cast<std::size_t>(verdict.job->index);
  entry.restarts.resize(replicas);
  ++entry.restarts[index];
  entry.counted_restarts.resize(replicas);
  if (verdict.counts) ++entry.counted_restarts[index];
}

void finish(std::string_view condition, const SetVerdict& verdict, SetStatus& status) {
  status.set(condition, true, verdict.reason, verdict.message);
  status.status().terminal_state = condition;
  const bool failed = condition == "Failed";
  status.end("RestartingJobSet", failed ? "JobSetFailed" : "JobSetCompleted", verdict.message);
  status.note(failed ? "Warning" : "Normal", verdict.reason, verdict.message);
}

// Only the status changes; what follows from it is done when it is stored.
void apply(const SetVerdict& verdict, const JobSetView& set, SetStatus& status) {
  switch (verdict.what) {
    case What::Complete: return finish("Completed", verdict, status);
    case What::Fail: return finish("Failed", verdict, status);
    case What::RestartJob:
      count_job_restart(set, verdict, status);
      status.note("Normal", "RestartingJob", verdict.message);
      return;
    case What::RestartSet: break;
  }
  ++status.status().restarts;
  if (verdict.counts) ++status.status().counted_restarts;
  status.set("RestartingJobSet", true, verdict.reason, verdict.message);
  status.note(
      "Warning", "Restarting",
      fmt::format("restarting jobset, attempt {}: {}", status.status().restarts, verdict.message));
}

void say_blocked(const SetState& state, SetStatus& status) {
  if (state.blocked) {
    if (status.set("SchedulingBlocked", true, state.blocked->reason, state.blocked->message))
      status.note("Warning", state.blocked->reason, state.blocked->message);
  } else if (state.groups_are_ready) {
    status.end("SchedulingBlocked", "SchedulingObjectsReady", "its Workload and groups are there");
  }
}

class Runner {
 public:
  Runner(const SetState& state, SetPlan& plan)
      : state_(state), set_(state.set), counts_(plan.status.status().jobs), plan_(plan) {
    for (const auto* jobs : {&state.jobs.active, &state.jobs.succeeded, &state.jobs.failed})
      for (const ChildJob& job : *jobs) present_.emplace(job.entry, job.index);
    for (const ChildJob& job : state.jobs.previous) leaving_.insert(job.name());
  }

  void run() {
    plan_.make_service = set_.dns_hostnames && !state_.has_service;
    create();
    if (set_.suspend)
      suspend();
    else
      resume();
    resize();
    say_blocked(state_, plan_.status);
  }

 private:
  void create() {
    if (!state_.groups_are_ready && !set_.suspend) return;
    const bool blocking = set_.failure_policy && set_.failure_policy->blocking;
    if (blocking && !state_.jobs.previous.empty()) return;
    for (std::size_t entry = 0; entry < set_.jobs.size(); ++entry) {
      const bool may = set_.suspend ? dependencies_are_met(set_, counts_, entry)
                                    : may_start(set_, counts_, entry);
      if (may) create_those_of(entry);
    }
  }

  void create_those_of(std::size_t entry) {
    const JobSetView::ReplicatedJob& wanted = set_.jobs[entry];
    for (std::int32_t index = 0; index < wanted.replicas; ++index) {
      if (plan_.create.size() >= kNewJobsMax) return;
      if (present_.contains({entry, index})) continue;
      if (!leaving_.empty() &&
          leaving_.contains(child_name(std::string(state_.name), wanted.name, index)))
        continue;
      plan_.create.push_back({entry, index});
    }
  }

  void suspend() {
    for (const ChildJob& job : state_.jobs.active)
      if (!job.view->suspend && !job.is_deleted()) add(plan_.suspend, job);
    if (plan_.status.set("Suspended", true, "SuspendedJobs", "jobset is suspended"))
      plan_.status.note("Normal", "SuspendedJobs", "jobset is suspended");
    plan_.status.end("RestartingJobSet", "JobSetSuspended", "jobset is suspended");
  }

  void resume() {
    SetStatus& status = plan_.status;
    if (status.holds("Suspended")) {
      status.set("Suspended", false, "ResumeJobs", "jobset is resumed");
      status.note("Normal", "ResumeJobs", "jobset is resumed");
    }
    for (const ChildJob& job : state_.jobs.active)
      if (job.view->suspend && !job.is_deleted() && state_.groups_are_ready &&
          may_start(set_, counts_, job.entry))
        add(plan_.resume, job);
    if (set_.in_order) say_order();
    if (!state_.jobs.previous.empty()) return;
    for (std::size_t entry = 0; entry < set_.jobs.size(); ++entry)
      if (!has_started(set_, counts_, entry)) return;
    status.end("RestartingJobSet", "JobsReady", "all jobs of this attempt are ready");
  }

  void say_order() {
    bool all = true;
    for (std::size_t entry = 0; entry < set_.jobs.size(); ++entry)
      all = all && has_started(set_, counts_, entry);
    SetStatus& status = plan_.status;
    const std::string_view reason =
        all ? "InOrderStartupPolicyCompleted" : "InOrderStartupPolicyInProgress";
    const std::string_view message =
        all ? "in order startup policy has completed" : "in order startup policy is in progress";
    const std::string_view now = all ? "StartupPolicyCompleted" : "StartupPolicyInProgress";
    // Once all have started, a Job that is not ready for a moment starts nothing again.
    if (!all && status.holds("StartupPolicyCompleted") && !status.holds("RestartingJobSet") &&
        !has_suspended())
      return;
    if (status.set(now, true, reason, message)) status.note("Normal", reason, message);
    status.end(all ? "StartupPolicyInProgress" : "StartupPolicyCompleted", reason, message);
  }

  bool has_suspended() const {
    return std::ranges::any_of(state_.jobs.active,
                               [](const ChildJob& job) { return job.view->suspend; });
  }

  void resize() {
    for (const ChildJob& job : state_.jobs.active) {
      const JobSetView::ReplicatedJob& wanted = set_.jobs[job.entry];
      if (job.is_deleted() || !job.view->is_indexed() || !wanted.completions) continue;
      if (job.view->parallelism != wanted.parallelism ||
          job.view->completions != wanted.completions)
        add(plan_.resize, job);
    }
  }

  const SetState& state_;
  const JobSetView& set_;
  const JobCounts& counts_;
  SetPlan& plan_;
  std::set<std::pair<std::size_t, std::int32_t>> present_;
  std::set<std::string> leaving_;  // names
};

}  // namespace

SetPlan plan_set(const SetState& state) {
  SetPlan plan(state.set);
  plan.status.status().jobs = count_jobs(state.set, state.jobs);
  if (state.set.is_finished()) {
    plan_end(state, plan);
    return plan;
  }
  remove_all(state.jobs.previous, plan);
  if (const auto verdict = judge_failures(state.set, state.jobs)) {
    apply(*verdict, state.set, plan.status);
    return plan;
  }
  if (const auto verdict = judge_successes(state.set, state.jobs)) {
    apply(*verdict, state.set, plan.status);
    return plan;
  }
  Runner(state, plan).run();
  return plan;
}

}  // namespace muster::controllers
