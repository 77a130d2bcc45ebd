#include "controllers/jobset/set_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/values/pattern.h"

namespace muster::controllers {
namespace {

using api::JobSetView;
using Action = JobSetView::Action;
using What = SetVerdict::What;

// Of a Job's message, this much is compared with patterns: what a condition may hold.
constexpr std::size_t kMessageMax = 32'768;

bool names_all_or(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::ranges::find(list, name) != list.end();
}

bool matches_message(const JobSetView::FailureRule& rule, std::string_view message) {
  if (rule.message_patterns.empty()) return true;
  return std::ranges::any_of(rule.message_patterns, [&](const std::string& text) {
    const Result<api::Pattern> pattern = api::Pattern::parse(text);
    return pattern && pattern->found_in(message.substr(0, kMessageMax));
  });
}

bool matches(const JobSetView::FailureRule& rule, const JobSetView& set, const ChildJob& job) {
  const api::JobCondition& failed = *job.view->condition("Failed");
  return names_all_or(rule.reasons, failed.reason) &&
         names_all_or(rule.targets, set.jobs[job.entry].name) &&
         matches_message(rule, failed.message);
}

std::string with_job(std::string_view message, const ChildJob& job) {
  return fmt::format("{} (first failed job: {})", message, job.name());
}

std::int64_t counted_restarts(const JobSetView& set) {
  std::int64_t sum = set.status.counted_restarts;
  for (const JobSetView::JobStatus& status : set.status.jobs)
    for (const std::int32_t restarts : status.counted_restarts) sum += restarts;
  return sum;
}

SetVerdict carry_out(Action action, std::string rule, const JobSetView& set, const ChildJob& job) {
  if (action == Action::FailJobSet)
    return {.what = What::Fail,
            .reason = "FailJobSetFailurePolicyAction",
            .message = with_job("jobset failed due to FailJobSet failure policy action", job),
            .job = &job};
  const bool counts = action == Action::RestartJobSet || action == Action::RestartJob;
  if (counts && counted_restarts(set) >= set.failure_policy->max_restarts)
    return {.what = What::Fail,
            .reason = "ReachedMaxRestarts",
            .message = with_job("jobset failed due to reaching max number of restarts", job),
            .job = &job};
  const bool alone =
      action == Action::RestartJob || action == Action::RestartJobAndIgnoreMaxRestarts;
  return {.what = alone ? What::RestartJob : What::RestartSet,
          .counts = counts,
          .reason = std::move(rule),
          .message = fmt::format("applying {} failure policy action (first failed job: {})",
                                 api::action_name(action), job.name()),
          .job = &job};
}

}  // namespace

std::optional<SetVerdict> judge_failures(const JobSetView& set, const ChildJobs& jobs) {
  if (jobs.failed.empty()) return std::nullopt;
  std::vector<const ChildJob*> failed;
  for (const ChildJob& job : jobs.failed) failed.push_back(&job);
  std::ranges::stable_sort(failed, {}, [](const ChildJob* job) { return job->failed_at(); });
  if (!set.failure_policy)
    return SetVerdict{
        .what = What::Fail,
        .reason = "FailedJobs",
        .message = with_job("jobset failed due to one or more job failures", *failed.front()),
        .job = failed.front()};
  for (const JobSetView::FailureRule& rule : set.failure_policy->rules)
    for (const ChildJob* job : failed)
      if (matches(rule, set, *job))
        return carry_out(rule.action, "FailurePolicy_" + rule.name, set, *job);
  return carry_out(Action::RestartJobSet, "DefaultFailurePolicy", set, *failed.front());
}

std::optional<SetVerdict> judge_successes(const JobSetView& set, const ChildJobs& jobs) {
  const auto counts = [&](std::string_view name) {
    return names_all_or(set.success_targets, name);
  };
  std::int64_t wanted = 0;
  for (const JobSetView::ReplicatedJob& entry : set.jobs)
    if (counts(entry.name)) wanted += entry.replicas;
  const std::int64_t succeeded = std::ranges::count_if(
      jobs.succeeded, [&](const ChildJob& job) { return counts(set.jobs[job.entry].name); });
  if (succeeded == 0 || succeeded < (set.any_success ? 1 : wanted)) return std::nullopt;
  return SetVerdict{.what = What::Complete,
                    .reason = "AllJobsCompleted",
                    .message = "jobset completed successfully"};
}

}  // namespace muster::controllers
