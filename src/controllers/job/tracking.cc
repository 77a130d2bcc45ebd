#include "controllers/job/tracking.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "controllers/job/failure_policy.h"

namespace muster::controllers {
namespace {

using Status = api::JobView::Status;
using Uids = std::set<std::string_view>;

bool same(const std::vector<api::JobCondition>& a, const std::vector<api::JobCondition>& b) {
  return std::ranges::equal(a, b, [](const api::JobCondition& x, const api::JobCondition& y) {
    return x.type == y.type && x.status == y.status && x.reason == y.reason &&
           x.message == y.message;
  });
}

bool same(const Status& a, const Status& b) {
  return a.active == b.active && a.succeeded == b.succeeded && a.failed == b.failed &&
         a.ready == b.ready && a.terminating == b.terminating &&
         a.completed_indexes == b.completed_indexes && a.failed_indexes == b.failed_indexes &&
         a.uncounted_succeeded == b.uncounted_succeeded &&
         a.uncounted_failed == b.uncounted_failed && a.start_time == b.start_time &&
         a.completion_time == b.completion_time && same(a.conditions, b.conditions);
}

class Tracker {
 public:
  Tracker(const JobState& state, const Tally& tally, const TrackingOptions& options)
      : state_(state), tally_(tally), options_(options), stored_(state.job.status) {
    out_.status = stored_;
    noted_succeeded_ = {stored_.uncounted_succeeded.begin(), stored_.uncounted_succeeded.end()};
    noted_failed_ = {stored_.uncounted_failed.begin(), stored_.uncounted_failed.end()};
  }

  Tracking run() {
    count_the_untracked();
    note_the_ended();
    if (state_.job.is_indexed()) write_indexes();
    out_.status.active = static_cast<std::int32_t>(tally_.active.size());
    out_.status.ready = tally_.ready;
    out_.status.terminating = tally_.terminating;
    if (!out_.status.start_time && !state_.job.suspend && state_.may_create)
      out_.status.start_time = state_.now;
    write_blocked();
    if (options_.end)
      write_end(*options_.end);
    else if (options_.managed && !state_.deleting)
      write_suspension();
    out_.changed = !same(out_.status, stored_);
    return std::move(out_);
  }

 private:
  // Pods whose finalizer is gone need no uid any more: a number is enough.
  void count_the_untracked() {
    Uids tracked;
    for (const JobPod& pod : state_.pods)
      if (pod.tracked) tracked.insert(pod.uid());
    const auto count = [&](std::vector<std::string>& uids, std::int32_t& number) {
      number += static_cast<std::int32_t>(
          std::erase_if(uids, [&](const std::string& uid) { return !tracked.contains(uid); }));
    };
    count(out_.status.uncounted_succeeded, out_.status.succeeded);
    count(out_.status.uncounted_failed, out_.status.failed);
  }

  bool may_untrack(const JobPod& pod, bool failed) const {
    if (state_.deleting || options_.end || pod.succeeded()) return true;
    if (!failed) return false;
    const auto held_back = pod.index ? tally_.held_back.find(*pod.index) : tally_.held_back.end();
    return held_back == tally_.held_back.end() || held_back->second != &pod;
  }

  std::int64_t waiting() const {
    return std::ssize(new_indexes_) + std::ssize(out_.status.uncounted_succeeded) +
           std::ssize(out_.status.uncounted_failed);
  }

  void note_the_ended() {
    const bool announced = !options_.end || state_.job.is_true(options_.end->announcement());
    for (const JobPod* pod : in_order()) {
      if (!pod->tracked) continue;
      const bool failed = pod->failed(state_.job);
      if (!may_untrack(*pod, failed)) continue;
      if (waiting() >= kUncountedMax) {
        full_ = true;
        break;
      }
      if (note(*pod, failed) && announced) out_.untrack.push_back(pod);
    }
  }

  // By index where there is one, so that a status that fills up does so from the front.
  std::vector<const JobPod*> in_order() const {
    std::vector<const JobPod*> pods;
    pods.reserve(state_.pods.size());
    for (const JobPod& pod : state_.pods) pods.push_back(&pod);
    if (state_.job.is_indexed()) std::ranges::stable_sort(pods, {}, &JobPod::index);
    return pods;
  }

  // Makes sure that the pod is counted, if it counts. True if the stored status needs to know no
  // more about it.
  bool note(const JobPod& pod, bool failed) {
    const bool counted_failed = noted_failed_.contains(pod.uid());
    if (pod.succeeded() && !counted_failed) return note_success(pod);
    if (!failed && (!options_.end || options_.end->success)) return true;
    if (counted_failed) return true;
    if (state_.job.is_indexed() && !has_valid_index(pod, state_.job)) return true;
    if (!judge_failure(state_.job, pod).counts()) return true;
    out_.status.uncounted_failed.push_back(pod.uid());
    return false;
  }

  bool note_success(const JobPod& pod) {
    if (state_.job.is_indexed()) {
      // An index that succeeded cannot be counted twice: no uid is needed.
      if (!has_valid_index(pod, state_.job) || tally_.succeeded_before.contains(*pod.index))
        return true;
      new_indexes_.push_back(*pod.index);
      return false;
    }
    if (noted_succeeded_.contains(pod.uid())) return true;
    out_.status.uncounted_succeeded.push_back(pod.uid());
    return false;
  }

  void write_indexes() {
    const IndexSet succeeded = tally_.succeeded_before.with(IndexSet::of(new_indexes_));
    out_.status.completed_indexes = succeeded.text();
    out_.status.succeeded = static_cast<std::int32_t>(succeeded.size());
    if (state_.job.backoff_limit_per_index)
      out_.status.failed_indexes = tally_.failed_indexes.text();
  }

  void write_end(const JobEnd& end) {
    const api::Condition announcement{std::string(end.announcement()), "True", end.reason,
                                      end.message, 0};
    set_condition(out_.status.conditions, announcement, state_.now);
    const bool announced = state_.job.is_true(end.announcement());
    if (!announced || full_ || waiting() > std::ssize(new_indexes_) || !out_.untrack.empty() ||
        !new_indexes_.empty() || tally_.terminating > 0)
      return;
    set_condition(out_.status.conditions,
                  {std::string(end.condition()), "True", end.reason, end.message, 0}, state_.now);
    if (end.success) out_.status.completion_time = state_.now;
    out_.finished = true;
  }

  void write_blocked() {
    std::vector<api::JobCondition>& conditions = out_.status.conditions;
    if (!state_.blocked)
      set_condition(conditions,
                    {"SchedulingBlocked", "False", "Unblocked", "Job can be scheduled", 0},
                    state_.now);
    else if (set_condition(conditions, *state_.blocked, state_.now))
      out_.blocked = state_.blocked;
  }

  void write_suspension() {
    Status& status = out_.status;
    if (state_.job.suspend) {
      out_.suspended = set_condition(
          status.conditions, {"Suspended", "True", "JobSuspended", "Job suspended", 0}, state_.now);
      status.start_time.reset();
      return;
    }
    out_.resumed = set_condition(
        status.conditions, {"Suspended", "False", "JobResumed", "Job resumed", 0}, state_.now);
    if (out_.resumed) status.start_time = state_.now;
  }

  const JobState& state_;
  const Tally& tally_;
  const TrackingOptions& options_;
  const Status& stored_;
  Uids noted_succeeded_, noted_failed_;    // in the stored status
  std::vector<std::int32_t> new_indexes_;  // that succeeded
  bool full_ = false;
  Tracking out_;
};

}  // namespace

bool set_condition(std::vector<api::JobCondition>& conditions, const api::Condition& wanted,
                   Time now) {
  const auto at = std::ranges::find(conditions, wanted.type, &api::JobCondition::type);
  if (at == conditions.end()) {
    if (wanted.status == "False") return false;
    conditions.push_back({wanted, now});
    return true;
  }
  if (at->status == wanted.status && at->reason == wanted.reason && at->message == wanted.message)
    return false;
  *at = {wanted, now};
  return true;
}

Tracking track_pods(const JobState& state, const Tally& tally, const TrackingOptions& options) {
  return Tracker(state, tally, options).run();
}

}  // namespace muster::controllers
