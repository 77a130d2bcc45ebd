#include "controllers/job/tally.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "controllers/job/failure_policy.h"

namespace muster::controllers {
namespace {

using Uids = std::set<std::string_view>;

Uids uids_of(const std::vector<std::string>& uids) { return {uids.begin(), uids.end()}; }

void count_ended(const JobState& state, Tally& tally) {
  const Uids succeeded = uids_of(state.job.status.uncounted_succeeded);
  const Uids failed = uids_of(state.job.status.uncounted_failed);
  for (const JobPod& pod : state.pods) {
    if (!pod.tracked || (state.job.is_indexed() && !has_valid_index(pod, state.job))) continue;
    if (pod.succeeded()) {
      if (!succeeded.contains(pod.uid())) tally.new_succeeded.push_back(&pod);
    } else if (pod.failed(state.job)) {
      if (!failed.contains(pod.uid())) tally.new_failed.push_back(&pod);
    }
  }
  tally.succeeded = state.job.status.succeeded + std::ssize(tally.new_succeeded) +
                    std::ssize(state.job.status.uncounted_succeeded);
  tally.failed = state.job.status.failed + std::ssize(state.job.status.uncounted_failed) +
                 std::ranges::count_if(tally.new_failed, [&](const JobPod* pod) {
                   return judge_failure(state.job, *pod).counts();
                 });
}

// Whether this failure is the last that its index may have.
bool fails_index(const api::JobView& job, const JobPod& pod) {
  const FailureJudgement judgement = judge_failure(job, pod);
  if (judgement.action == api::PodFailureRule::Action::FailIndex) return true;
  return judgement.counts() && pod.index_failures() >= *job.backoff_limit_per_index;
}

// Of two failed pods of an index, the one that came later.
bool is_later(const JobPod& a, const JobPod& b) {
  const auto rank = [](const JobPod& pod) {
    return std::pair(pod.index_failures() + pod.ignored_index_failures(),
                     pod.object->meta().creation_time.value_or(Time{}));
  };
  return rank(a) > rank(b);
}

void count_failed_indexes(const JobState& state, Tally& tally) {
  std::vector<std::int32_t> failed;
  for (const JobPod& pod : state.pods)
    if (pod.tracked && has_valid_index(pod, state.job) && !pod.succeeded() &&
        pod.failed(state.job) && fails_index(state.job, pod))
      failed.push_back(*pod.index);
  tally.failed_indexes =
      IndexSet::parse(state.job.status.failed_indexes.value_or(""), *state.job.completions)
          .with(IndexSet::of(failed));

  std::vector<std::int32_t> active;
  for (const JobPod* pod : tally.active)
    if (pod->index) active.push_back(*pod->index);
  const IndexSet settled =
      IndexSet::of(active).with(tally.succeeded_indexes).with(tally.failed_indexes);
  for (const JobPod& pod : state.pods) {
    if (!pod.tracked || !has_valid_index(pod, state.job) || pod.succeeded() ||
        !pod.failed(state.job) || settled.contains(*pod.index))
      continue;
    const JobPod*& last = tally.held_back[*pod.index];
    if (last == nullptr || is_later(pod, *last)) last = &pod;
  }
}

void count_indexes(const JobState& state, Tally& tally) {
  const std::int32_t completions = state.job.completions.value_or(0);
  std::vector<std::int32_t> succeeded;
  for (const JobPod* pod : tally.new_succeeded) succeeded.push_back(*pod->index);
  tally.succeeded_before = IndexSet::parse(state.job.status.completed_indexes, completions);
  tally.succeeded_indexes = tally.succeeded_before.with(IndexSet::of(succeeded));
  tally.succeeded = tally.succeeded_indexes.size();
  if (state.job.backoff_limit_per_index && state.job.completions)
    count_failed_indexes(state, tally);
}

}  // namespace

Tally count_pods(const JobState& state) {
  Tally tally;
  for (const JobPod& pod : state.pods) {
    if (pod.is_terminating()) ++tally.terminating;
    if (!pod.is_active()) continue;
    tally.active.push_back(&pod);
    if (pod.ready) ++tally.ready;
  }
  count_ended(state, tally);
  if (state.job.is_indexed()) count_indexes(state, tally);
  return tally;
}

}  // namespace muster::controllers
