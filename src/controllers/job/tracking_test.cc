#include "controllers/job/tracking.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "controllers/job/job_plan.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

// The plan refers to the pods, so they are kept.
JobPlan plan(const api::JobView& job, std::vector<JobPod> pods) {
  static std::deque<std::vector<JobPod>> kept;
  PodBackoff backoff;
  return plan_job(state_of(job, kept.emplace_back(std::move(pods))), backoff);
}

// The steps of one pod's end: uid into the status, finalizer off, number up, condition.
TEST(Tracking, CountsAPodInSteps) {
  const auto first = make_job(R"("completions":1)");
  const JobPlan noted = plan(*first, make_pods({{.name = "a", .phase = "Succeeded"}}));
  EXPECT_EQ(noted.tracking.status.uncounted_succeeded, Texts{"u-a"});
  EXPECT_EQ(noted.tracking.status.succeeded, 0);
  EXPECT_TRUE(noted.tracking.untrack.empty());
  EXPECT_EQ(noted.tracking.status.conditions.back().type, "SuccessCriteriaMet");

  const std::string announced =
      R"("conditions":[{"type":"SuccessCriteriaMet","status":"True","reason":"R","message":"M"}],
         "startTime":"2026-01-01T00:00:00Z","uncountedTerminatedPods":{"succeeded":["u-a"]},
         "ready":0,"terminating":0)";
  const auto second = make_job(R"("completions":1)", announced);
  const JobPlan released = plan(*second, make_pods({{.name = "a", .phase = "Succeeded"}}));
  EXPECT_FALSE(released.tracking.changed);
  EXPECT_EQ(names_of(released.tracking.untrack), Texts{"a"});

  const JobPlan counted =
      plan(*second, make_pods({{.name = "a", .phase = "Succeeded", .tracked = false}}));
  EXPECT_EQ(counted.tracking.status.succeeded, 1);
  EXPECT_TRUE(counted.tracking.status.uncounted_succeeded.empty());
  EXPECT_TRUE(counted.tracking.finished);
  EXPECT_EQ(counted.tracking.status.conditions.back().type, "Complete");
  EXPECT_EQ(counted.tracking.status.conditions.back().reason, "R");
  EXPECT_EQ(counted.tracking.status.completion_time, kNow);
}

TEST(Tracking, AnEndWaitsForPodsThatAreStillStopping) {
  const auto job = make_job(
      R"("completions":1,"podReplacementPolicy":"Failed")",
      R"("conditions":[{"type":"FailureTarget","status":"True","reason":"R"}],"startTime":"2026-01-01T00:00:00Z")");
  const JobPlan stopping =
      plan(*job, make_pods({{.name = "a", .tracked = false, .deleted = true}}));
  EXPECT_FALSE(stopping.tracking.finished);
  EXPECT_EQ(stopping.tracking.status.terminating, 1);
  EXPECT_TRUE(plan(*job, {}).tracking.finished);
}

TEST(Tracking, AFailedJobCountsEveryPodThatDidNotEndAndASuccessfulOneDoesNot) {
  for (const bool success : {false, true}) {
    const auto job =
        make_job(R"("completions":3,"podReplacementPolicy":"Failed")",
                 fmt::format(R"("conditions":[{{"type":"{}","status":"True","reason":"R"}}])",
                             success ? "SuccessCriteriaMet" : "FailureTarget"));
    const JobPlan made = plan(*job, make_pods({{.name = "a", .deleted = true}}));
    EXPECT_EQ(made.tracking.status.uncounted_failed, success ? Texts{} : Texts{"u-a"});
    EXPECT_EQ(made.tracking.untrack.size(), success ? 1U : 0U);
  }
}

TEST(Tracking, TheStatusHoldsNoMoreThanItMay) {
  std::vector<PodText> texts;
  for (int i = 0; i < 700; ++i)
    texts.push_back({.name = fmt::format("p{:03}", i), .phase = "Succeeded"});
  const auto job = make_job(R"("parallelism":700,"completions":700)");
  const JobPlan made = plan(*job, make_pods(texts));
  EXPECT_EQ(made.tracking.status.uncounted_succeeded.size(), 500U);
  EXPECT_FALSE(made.tracking.finished);
}

TEST(Tracking, PodsOfADeletedJobAreLetGo) {
  const auto job = make_job(R"("completions":2)");
  const auto pods = make_pods({{.name = "a"}, {.name = "b", .phase = "Failed"}});
  PodBackoff backoff;
  JobState state = state_of(*job, pods);
  state.deleting = true;
  const JobPlan made = plan_job(state, backoff);
  EXPECT_FALSE(made.changes_pods());
  EXPECT_EQ(names_of(made.tracking.untrack), Texts{"a"});
  EXPECT_EQ(made.tracking.status.uncounted_failed, Texts{"u-b"});
}

TEST(Tracking, SuspensionIsSaidOnceItsPodsAreGone) {
  const auto job =
      make_job(R"("parallelism":1,"suspend":true)", R"("startTime":"2025-01-01T00:00:00Z")");
  const JobPlan leaving = plan(*job, make_pods({{.name = "a"}}));
  EXPECT_EQ(names_of(leaving.pods.remove), Texts{"a"});
  EXPECT_FALSE(leaving.tracking.suspended);
  const JobPlan gone = plan(*job, {});
  EXPECT_TRUE(gone.tracking.suspended);
  EXPECT_EQ(gone.tracking.status.start_time, std::nullopt);

  const auto resumed =
      make_job(R"("parallelism":0)", R"("conditions":[{"type":"Suspended","status":"True"}])");
  const JobPlan back = plan(*resumed, {});
  EXPECT_TRUE(back.tracking.resumed);
  EXPECT_EQ(back.tracking.status.start_time, kNow);
}

}  // namespace
}  // namespace muster::controllers
