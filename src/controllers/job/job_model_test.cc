#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/reading.h"
#include "base/entropy.h"
#include "controllers/job/job_plan.h"
#include "controllers/job/job_status.h"
#include "controllers/job/job_testing.h"

// Plans are carried out on a small model of a cluster, in which pods end, vanish and calls get lost
// at random. The model counts how pods end by looking at each once, as it happens; the status of
// the Job must come to the same numbers.
namespace muster::controllers {
namespace {

using api::Json;
using api::JsonObject;
using std::chrono::seconds;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

class Model {
 public:
  Model(std::uint64_t seed, bool indexed) : entropy_(seed), indexed_(indexed) {
    completions_ = 1 + draw(8);
    job_ = JsonObject{{"metadata", JsonObject{{"name", "j"}, {"namespace", "ns"}, {"uid", "uj"}}},
                      {"spec", JsonObject{{"completions", completions_},
                                          {"completionMode", indexed ? "Indexed" : "NonIndexed"},
                                          {"backoffLimit", 1000},
                                          {"podReplacementPolicy",
                                           draw(2) == 0 ? "Failed" : "TerminatingOrFailed"}}},
                      {"status", JsonObject{}}};
    set_spec("parallelism", 1 + draw(5));
  }

  // Anything may happen, `ends` or not.
  void step(bool calm) {
    now_ += seconds{1 + draw(calm ? 900 : 20)};
    for (PodText& pod : pods_) {
      if (pod.phase != "Running") continue;
      if (pod.deleted) {
        if (draw(2) == 0) end(pod, false);
      } else if (const int what = draw(10); what < 3) {
        end(pod, calm || what > 0);
      } else if (what == 3 && !calm) {
        pod.deleted = true;  // somebody else evicts it
      }
    }
    std::erase_if(pods_, [](const PodText& pod) {
      return pod.deleted && !pod.tracked && pod.phase != "Running";
    });
    if (draw(12) == 0) set_spec("parallelism", 1 + draw(5));
    set_spec("suspend", !calm && draw(6) == 0);
    look(calm);
  }

  bool is_finished() const { return view()->is_finished(); }
  void check() const {
    const auto job = view();
    const api::JobView::Status& status = job->status;
    ASSERT_LE(status.succeeded + std::ssize(status.uncounted_succeeded), succeeded_);
    ASSERT_LE(status.failed + std::ssize(status.uncounted_failed), failed_);
    if (!job->is_finished()) return;
    EXPECT_EQ(status.active, 0);
    EXPECT_TRUE(status.uncounted_succeeded.empty() && status.uncounted_failed.empty());
    EXPECT_EQ(status.failed, failed_);
    EXPECT_GE(status.succeeded, completions_);
    if (indexed_)
      EXPECT_EQ(status.succeeded, completions_);
    else
      EXPECT_EQ(status.succeeded, succeeded_);
    for (const PodText& pod : pods_) EXPECT_FALSE(pod.tracked) << pod.name;
  }

 private:
  int draw(int below) {
    return static_cast<int>(entropy_.below(static_cast<std::uint64_t>(below)));
  }
  void set_spec(std::string_view member, Json value) {
    job_.as_object()["spec"].as_object()[member] = std::move(value);
  }
  std::unique_ptr<api::JobView> view() const { return api::JobView::of(job_); }

  // The pod ends. One that lost its finalizer was taken out by the controller: it counts for
  // nothing.
  void end(PodText& pod, bool success) {
    pod.phase = success ? "Succeeded" : "Failed";
    pod.ready = false;
    if (!pod.tracked) return;
    if (success)
      indexed_ ? static_cast<void>(indexes_.insert(pod.index)) : static_cast<void>(++succeeded_);
    else if (!counted_.contains(pod.name))
      ++failed_;
    if (indexed_) succeeded_ = std::ssize(indexes_);
  }

  void look(bool calm) {
    const auto job = view();
    if (job->is_finished()) return;
    const std::vector<JobPod> pods = make_pods(pods_);
    const JobPlan plan = plan_job(state_of(*job, pods, now_), backoff_);
    // A pod that is deleted counts at once where the Job does not wait for its end.
    if (!job->replaces_failed_only)
      for (const PodText& pod : pods_)
        if (pod.deleted && pod.tracked && pod.phase == "Running" &&
            counted_.insert(pod.name).second)
          ++failed_;
    const bool reliable = calm || draw(3) > 0;
    const auto arrives = [&] { return reliable || draw(2) == 0; };
    if (plan.changes_pods() && draw(4) > 0)
      change_pods(*job, plan, arrives);
    else
      write(plan, arrives);
  }

  template <typename Arrives>
  void change_pods(const api::JobView& job, const JobPlan& plan, const Arrives& arrives) {
    for (const JobPod* gone : plan.pods.remove) {
      PodText& pod = *std::ranges::find(pods_, gone->object->meta().name, &PodText::name);
      if (!plan.keep_tracked && !arrives()) continue;
      if (!plan.keep_tracked) pod.tracked = false;
      if (arrives()) pod.deleted = true;
    }
    const std::int64_t before = active();
    for (const NewPod& made : plan.pods.create) {
      if (!arrives()) continue;
      pods_.push_back({.name = fmt::format("p{:04}", ++made_), .index = made.index.value_or(-1)});
    }
    ASSERT_LE(active(), std::max<std::int64_t>(before, job.parallelism));
  }

  template <typename Arrives>
  void write(const JobPlan& plan, const Arrives& arrives) {
    for (const JobPod* pod : plan.tracking.untrack)
      if (arrives())
        std::ranges::find(pods_, pod->object->meta().name, &PodText::name)->tracked = false;
    if (!plan.tracking.changed || !arrives()) return;
    const auto object = api::Object::make(job_kind(), job_);
    const api::Request request = status_request(*object, plan.tracking.status, now_);
    job_.as_object()["status"] = *api::find(request.body.as_array()[1], "value");
  }

  std::int64_t active() const {
    return std::ranges::count_if(
        pods_, [](const PodText& pod) { return pod.phase == "Running" && !pod.deleted; });
  }

  SeededEntropy entropy_;
  const bool indexed_;
  std::int64_t completions_ = 0;
  Json job_;
  std::vector<PodText> pods_;
  PodBackoff backoff_;
  Time now_ = kNow;
  int made_ = 0;
  std::int64_t succeeded_ = 0, failed_ = 0;
  std::set<int> indexes_;          // that succeeded
  std::set<std::string> counted_;  // pods that failed by being deleted
};

TEST(JobModel, EveryEndIsCountedOnceHoweverCallsGetLost) {
  for (const bool indexed : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Model model(seed, indexed);
      for (int i = 0; i < 60 && !model.is_finished(); ++i) {
        model.step(false);
        ASSERT_NO_FATAL_FAILURE(model.check()) << "seed " << seed << " step " << i;
      }
      for (int i = 0; i < 400 && !model.is_finished(); ++i) {
        model.step(true);
        ASSERT_NO_FATAL_FAILURE(model.check()) << "seed " << seed << " calm step " << i;
      }
      ASSERT_TRUE(model.is_finished()) << "seed " << seed << " indexed " << indexed;
    }
  }
}

}  // namespace
}  // namespace muster::controllers
