#include "controllers/job/job_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "controllers/job/failure_policy.h"

namespace muster::controllers {
namespace {

JobEnd failure(std::string_view reason, std::string message) {
  return {.success = false, .reason = std::string(reason), .message = std::move(message)};
}

// What an earlier look has decided stays decided.
std::optional<JobEnd> announced_end(const api::JobView& job) {
  for (const bool success : {true, false}) {
    JobEnd end{.success = success, .reason = {}, .message = {}};
    const api::JobCondition* condition = job.condition(end.announcement());
    if (condition == nullptr || condition->status != "True") continue;
    end.reason = condition->reason;
    end.message = condition->message;
    return end;
  }
  return std::nullopt;
}

std::optional<JobEnd> failed_by_rule(const JobState& state) {
  if (state.job.failure_rules.empty()) return std::nullopt;
  for (const JobPod& pod : state.pods) {
    if (!pod.failed(state.job)) continue;
    FailureJudgement judgement = judge_failure(state.job, pod);
    if (judgement.action == api::PodFailureRule::Action::FailJob)
      return failure("PodFailurePolicy", std::move(judgement.message));
  }
  return std::nullopt;
}

// Pods that restart their containers themselves fail without ending.
bool restarted_too_often(const JobState& state) {
  if (!state.job.restarts_on_failure) return false;
  std::int64_t sum = 0;
  for (const JobPod& pod : state.pods)
    if (pod.view->phase == "Running" || pod.view->phase == "Pending") sum += restarts(*pod.object);
  return state.job.backoff_limit == 0 ? sum > 0 : sum >= state.job.backoff_limit;
}

std::optional<JobEnd> failed_by_indexes(const JobState& state, const Tally& tally) {
  if (!state.job.is_indexed() || !state.job.backoff_limit_per_index) return std::nullopt;
  const std::int64_t failed = tally.failed_indexes.size();
  if (state.job.max_failed_indexes && failed > *state.job.max_failed_indexes)
    return failure("MaxFailedIndexesExceeded",
                   "Job has exceeded the specified maximal number of failed indexes");
  if (failed > 0 && failed + tally.succeeded_indexes.size() >= state.job.completions.value_or(0))
    return failure("FailedIndexes", "Job has failed indexes");
  return std::nullopt;
}

bool is_met(const api::SuccessRule& rule, const JobState& state, const Tally& tally) {
  if (!rule.indexes) return rule.count && tally.succeeded_indexes.size() >= *rule.count;
  const IndexSet wanted = IndexSet::parse(*rule.indexes, state.job.completions.value_or(0));
  const std::int64_t met = wanted.shared_with(tally.succeeded_indexes);
  return met >= (rule.count ? *rule.count : wanted.size()) && met > 0;
}

std::optional<JobEnd> succeeded_by_rule(const JobState& state, const Tally& tally) {
  if (!state.job.is_indexed()) return std::nullopt;
  for (std::size_t i = 0; i < state.job.success_rules.size(); ++i)
    if (is_met(state.job.success_rules[i], state, tally))
      return JobEnd{.success = true,
                    .reason = "SuccessPolicy",
                    .message = fmt::format("Matched rules at index {}", i)};
  return std::nullopt;
}

}  // namespace

std::optional<Time> deadline_of(const JobState& state) {
  if (!state.job.active_deadline_s || state.job.suspend) return std::nullopt;
  // Beyond what a clock can show, there is no deadline.
  constexpr std::int64_t kMost = 100LL * 366 * 24 * 3600;
  if (*state.job.active_deadline_s > kMost) return std::nullopt;
  return state.job.status.start_time.value_or(state.now) +
         std::chrono::seconds{*state.job.active_deadline_s};
}

std::optional<JobEnd> find_end(const JobState& state, const Tally& tally) {
  if (auto end = announced_end(state.job)) return end;
  if (auto end = failed_by_rule(state)) return end;
  if (tally.failed > state.job.backoff_limit || restarted_too_often(state))
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if (const auto deadline = deadline_of(state); deadline && *deadline <= state.now)
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  if (auto end = failed_by_indexes(state, tally)) return end;
  return succeeded_by_rule(state, tally);
}

bool is_complete(const JobState& state, const Tally& tally) {
  if (!tally.active.empty()) return false;
  if (!state.job.completions) return tally.succeeded > 0;
  return tally.succeeded >= *state.job.completions;
}

JobEnd completions_reached() {
  return {.success = true,
          .reason = "CompletionsReached",
          .message = "Reached expected number of succeeded pods"};
}

}  // namespace muster::controllers
