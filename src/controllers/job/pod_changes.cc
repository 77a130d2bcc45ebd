#include "controllers/job/pod_changes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/job/failure_policy.h"
#include "controllers/job/pod_backoff.h"

namespace muster::controllers {
namespace {

using Pods = std::vector<const JobPod*>;

// How many pods should run at once now.
std::int64_t wanted_active(const JobState& state, const Tally& tally) {
  const api::JobView& job = state.job;
  // The first success ends a Job without completions: no more pods, and the others run on.
  if (!job.completions) return tally.succeeded > 0 ? std::ssize(tally.active) : job.parallelism;
  return std::clamp<std::int64_t>(*job.completions - tally.succeeded, 0, job.parallelism);
}

// Pods of Indexed Jobs that should not be, whatever the numbers say: those without an index the Job
// has, and all but one of each index. The rest stays in `pods`.
Pods take_misplaced(const JobState& state, Pods& pods) {
  Pods out, left;
  std::map<std::int32_t, Pods> by_index;
  for (const JobPod* pod : pods) {
    if (has_valid_index(*pod, state.job))
      by_index[*pod->index].push_back(pod);
    else
      out.push_back(pod);
  }
  for (auto& [index, same] : by_index) {
    if (same.size() > 1) sort_for_removal(same);
    left.push_back(same.back());
    out.insert(out.end(), same.begin(), same.end() - 1);
  }
  pods = std::move(left);
  return out;
}

Pods find_removals(const JobState& state, const Tally& tally, std::int64_t at_least) {
  Pods left = tally.active;
  Pods out = state.job.is_indexed() ? take_misplaced(state, left) : Pods();
  const std::int64_t more = std::min<std::int64_t>(at_least - std::ssize(out), std::ssize(left));
  if (more > 0) {
    sort_for_removal(left);
    out.insert(out.end(), left.begin(), left.begin() + more);
  }
  return out;
}

// Indexes that need a pod, the smallest first.
std::vector<std::int32_t> missing_indexes(const JobState& state, const Tally& tally,
                                          std::int64_t count) {
  std::vector<std::int32_t> taken;
  for (const JobPod& pod : state.pods)
    if (pod.index && (pod.is_active() || (state.job.replaces_failed_only && pod.is_terminating())))
      taken.push_back(*pod.index);
  return IndexSet::of(taken)
      .with(tally.succeeded_indexes)
      .with(tally.failed_indexes)
      .first_missing(count, state.job.completions.value_or(0));
}

// The next pod of an index of which the last one failed; none before its pause is over.
std::optional<NewPod> replacement(const JobState& state, const JobPod& last, PodChanges& changes) {
  NewPod out{.index = last.index,
             .index_failures = last.index_failures(),
             .ignored_index_failures = last.ignored_index_failures()};
  const Time not_before =
      finish_time(*last.object) +
      backoff_pause(std::int64_t{out.index_failures} + out.ignored_index_failures + 1);
  if (state.now < not_before) {
    changes.again = std::min(changes.again.value_or(not_before), not_before);
    return std::nullopt;
  }
  ++(judge_failure(state.job, last).counts() ? out.index_failures : out.ignored_index_failures);
  return out;
}

void add_indexed(const JobState& state, const Tally& tally, std::int64_t count,
                 PodChanges& changes) {
  for (const std::int32_t index : missing_indexes(state, tally, count)) {
    const auto held_back = tally.held_back.find(index);
    if (held_back == tally.held_back.end())
      changes.create.push_back({.index = index});
    else if (const auto pod = replacement(state, *held_back->second, changes))
      changes.create.push_back(*pod);
  }
}

}  // namespace

PodChanges find_pod_changes(const JobState& state, const Tally& tally,
                            std::optional<Time> not_before) {
  PodChanges changes;
  const std::int64_t active = std::ssize(tally.active);
  if (state.job.suspend) {
    changes.remove = tally.active;
    return changes;
  }
  const std::int64_t wanted = wanted_active(state, tally);
  changes.remove = find_removals(state, tally, active - wanted);
  if (std::ssize(changes.remove) > kPodChangesMax) changes.remove.resize(kPodChangesMax);
  if (!changes.remove.empty()) return changes;

  const std::int64_t terminating = state.job.replaces_failed_only ? tally.terminating : 0;
  const std::int64_t missing = std::min(wanted - terminating - active, kPodChangesMax);
  if (missing <= 0 || !state.may_create) return changes;
  if (!state.job.backoff_limit_per_index && not_before && state.now < *not_before) {
    changes.again = not_before;
    return changes;
  }
  if (state.job.is_indexed())
    add_indexed(state, tally, missing, changes);
  else
    changes.create.resize(static_cast<std::size_t>(missing));
  return changes;
}

}  // namespace muster::controllers
