#include "controllers/job/job_plan.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

// The plan refers to the pods, so they are kept.
JobPlan plan(const api::JobView& job, std::vector<JobPod> pods, Time now = kNow) {
  static std::deque<std::vector<JobPod>> kept;
  PodBackoff backoff;
  return plan_job(state_of(job, kept.emplace_back(std::move(pods)), now), backoff);
}

std::vector<std::int32_t> indexes_of(const JobPlan& plan) {
  std::vector<std::int32_t> out;
  for (const NewPod& pod : plan.pods.create) out.push_back(pod.index.value_or(-1));
  return out;
}

TEST(JobPlan, MakesAsManyPodsAsMayRunAndAreNeeded) {
  struct Case {
    std::string name, spec, status;
    std::vector<PodText> pods;
    std::size_t create;
  };
  const Case cases[] = {
      {"fresh", R"("parallelism":3,"completions":5)", "", {}, 3},
      {"fewer left", R"("parallelism":3,"completions":5)", R"("succeeded":4)", {}, 1},
      {"some run", R"("parallelism":3,"completions":5)", "", {{.name = "a"}}, 2},
      {"queue", R"("parallelism":3)", "", {{.name = "a"}}, 2},
      {"queue with a success", R"("parallelism":3)", R"("succeeded":1)", {{.name = "a"}}, 0},
      {"many", R"("parallelism":900,"completions":900)", "", {}, 500},
      {"suspended", R"("parallelism":3,"completions":5,"suspend":true)", "", {}, 0},
      {"terminating ones are replaced",
       R"("parallelism":2,"completions":2,"backoffLimit":9,"podReplacementPolicy":"TerminatingOrFailed")",
       R"("uncountedTerminatedPods":{"failed":["u-a"]})",
       {{.name = "a", .deleted = true}},
       2},
      {"terminating ones keep their place",
       R"("parallelism":2,"completions":2,"podReplacementPolicy":"Failed")",
       "",
       {{.name = "a", .deleted = true}},
       1},
  };
  for (const Case& each : cases) {
    const auto job = make_job(each.spec, each.status);
    const JobPlan made = plan(*job, make_pods(each.pods));
    EXPECT_EQ(made.pods.create.size(), each.create) << each.name;
    EXPECT_TRUE(made.pods.remove.empty()) << each.name;
  }
}

TEST(JobPlan, RemovesWhatIsTooMuchTheLeastUsefulFirst) {
  const auto job = make_job(R"("parallelism":1,"completions":9)");
  const auto pods =
      make_pods({{.name = "ready", .ready = true},
                 {.name = "ready-young", .ready = true, .made = "2026-01-01T00:00:09Z"},
                 {.name = "waiting", .phase = "Pending", .node = ""},
                 {.name = "starting", .phase = "Pending"}});
  const JobPlan made = plan(*job, pods);
  EXPECT_EQ(names_of(made.pods.remove), (Texts{"waiting", "starting", "ready-young"}));
  EXPECT_FALSE(made.keep_tracked);
  EXPECT_TRUE(made.pods.create.empty());
}

TEST(JobPlan, FillsTheSmallestIndexes) {
  const auto job = make_job(R"("parallelism":4,"completions":9,"completionMode":"Indexed")",
                            R"("completedIndexes":"0,3","succeeded":2)");
  EXPECT_EQ(indexes_of(plan(*job, make_pods({{.name = "a", .index = 1}}))),
            (std::vector<std::int32_t>{2, 4, 5}));
}

TEST(JobPlan, AnIndexWhosePodIsStoppingIsNotFilledYet) {
  const auto job = make_job(
      R"("parallelism":2,"completions":4,"completionMode":"Indexed","podReplacementPolicy":"Failed")");
  EXPECT_EQ(indexes_of(plan(*job, make_pods({{.name = "a", .index = 0, .deleted = true}}))),
            std::vector<std::int32_t>{1});
}

TEST(JobPlan, RemovesDoubledAndMissingIndexesFirst) {
  const auto job = make_job(R"("parallelism":4,"completions":4,"completionMode":"Indexed")");
  const auto pods = make_pods({{.name = "a", .index = 1, .ready = true},
                               {.name = "b", .index = 1},
                               {.name = "c", .index = 7},
                               {.name = "d"}});
  const JobPlan made = plan(*job, pods);
  EXPECT_EQ(names_of(made.pods.remove), (Texts{"c", "d", "b"}));
}

TEST(JobPlan, PodsOutOfPlaceCountAsRemoved) {
  const auto job = make_job(R"("parallelism":1,"completions":4,"completionMode":"Indexed")");
  const auto pods = make_pods(
      {{.name = "a", .index = 0}, {.name = "b", .index = 1, .ready = true}, {.name = "c"}});
  const JobPlan made = plan(*job, pods);
  EXPECT_EQ(names_of(made.pods.remove), (Texts{"c", "a"})) << "one goes on";
}

TEST(JobPlan, WaitsLongerAfterEveryFailureInARow) {
  const std::string ended =
      R"("containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T00:00:00Z"}}}])";
  const auto job = make_job(R"("parallelism":1,"completions":1)");
  PodBackoff backoff;
  std::vector<PodText> texts;
  Duration pauses[] = {seconds{10}, seconds{20}, seconds{40}};
  for (const Duration pause : pauses) {
    texts.push_back(
        {.name = fmt::format("p{}", texts.size()), .phase = "Failed", .more_status = ended});
    const auto pods = make_pods(texts);
    for (int look = 0; look < 2; ++look) {  // the second look counts nothing twice
      const JobPlan early = plan_job(state_of(*job, pods), backoff);
      EXPECT_TRUE(early.pods.create.empty());
      EXPECT_EQ(early.again, kNow + pause);
    }
    EXPECT_EQ(plan_job(state_of(*job, pods, kNow + pause), backoff).pods.create.size(), 1U);
  }
  EXPECT_EQ(backoff_pause(7), seconds{600});
  EXPECT_EQ(backoff_pause(1'000'000), seconds{600});
}

TEST(JobPlan, ASuccessEndsTheRowOfFailures) {
  const auto ended_at = [](int minute) {
    return fmt::format(
        R"("containerStatuses":[{{"name":"c","state":{{"terminated":{{"exitCode":1,"finishedAt":"2026-01-01T00:0{}:00Z"}}}}}}])",
        minute);
  };
  const auto job = make_job(R"("parallelism":1,"completions":3)");
  PodBackoff backoff;
  std::vector<PodText> texts;
  std::optional<Time> again;
  for (const char* phase : {"Failed", "Succeeded", "Failed"}) {
    const int minute = static_cast<int>(texts.size());
    texts.push_back(
        {.name = fmt::format("p{}", minute), .phase = phase, .more_status = ended_at(minute)});
    const auto pods = make_pods(texts);
    again = plan_job(state_of(*job, pods, kNow + std::chrono::minutes{minute}), backoff).again;
  }
  EXPECT_EQ(again, kNow + std::chrono::minutes{2} + seconds{10});

  PodBackoff late;
  const auto pods = make_pods(texts);
  EXPECT_EQ(plan_job(state_of(*job, pods, kNow + std::chrono::minutes{2}), late).again, again)
      << "also where all three are seen at once";
}

TEST(JobPlan, EndsForTheFirstReasonThatHolds) {
  struct Case {
    std::string spec, status;
    std::vector<PodText> pods;
    std::string reason;  // empty: goes on
  };
  const std::string exit7 =
      R"("containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":7}}}])";
  const std::string indexed = R"("parallelism":3,"completions":3,"completionMode":"Indexed",)";
  const Case cases[] = {
      {R"("completions":1)", "", {}, ""},
      {R"("completions":0)", "", {}, "CompletionsReached"},
      {R"("completions":1)", R"("succeeded":1)", {}, "CompletionsReached"},
      {R"("parallelism":2)", R"("succeeded":1)", {{.name = "a"}}, ""},
      {R"("parallelism":2)", R"("succeeded":1)", {}, "CompletionsReached"},
      {R"("backoffLimit":1,"completions":3)", R"("failed":1)", {}, ""},
      {R"("backoffLimit":1,"completions":3)",
       R"("failed":1)",
       {{.name = "a", .phase = "Failed"}},
       "BackoffLimitExceeded"},
      {R"("backoffLimit":2,"completions":3,"template":{"spec":{"restartPolicy":"OnFailure"}})",
       "",
       {{.name = "a", .more_status = R"("containerStatuses":[{"restartCount":2}])"}},
       "BackoffLimitExceeded"},
      {R"("backoffLimit":0,"completions":3,"template":{"spec":{"restartPolicy":"OnFailure"}})",
       "",
       {{.name = "a"}},
       ""},
      {R"("backoffLimit":0,"completions":3,"template":{"spec":{"restartPolicy":"OnFailure"}})",
       "",
       {{.name = "a", .more_status = R"("containerStatuses":[{"restartCount":1}])"}},
       "BackoffLimitExceeded"},
      {R"("completions":3,"activeDeadlineSeconds":60)",
       R"("startTime":"2025-12-31T23:59:00Z")",
       {{.name = "a"}},
       "DeadlineExceeded"},
      {R"("completions":3,"activeDeadlineSeconds":61)",
       R"("startTime":"2025-12-31T23:59:00Z")",
       {{.name = "a"}},
       ""},
      {R"("completions":3,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[7]}}]})",
       "",
       {{.name = "a", .phase = "Failed", .more_status = exit7}},
       "PodFailurePolicy"},
      {indexed + R"("backoffLimit":9,"backoffLimitPerIndex":1,"maxFailedIndexes":0)",
       "",
       {{.name = "a", .phase = "Failed", .index = 1, .index_failures = 1}},
       "MaxFailedIndexesExceeded"},
      {indexed + R"("backoffLimit":9,"backoffLimitPerIndex":1,"maxFailedIndexes":1)",
       "",
       {{.name = "a", .phase = "Failed", .index = 1, .index_failures = 1}},
       ""},
      {indexed + R"("backoffLimit":9,"backoffLimitPerIndex":1,"maxFailedIndexes":1)",
       "",
       {{.name = "a", .phase = "Failed", .index = 0, .index_failures = 1},
        {.name = "b", .phase = "Failed", .index = 1, .index_failures = 1}},
       "MaxFailedIndexesExceeded"},
      {indexed + R"("backoffLimit":9,"backoffLimitPerIndex":1)",
       R"("completedIndexes":"0,2","succeeded":2)",
       {{.name = "a", .phase = "Failed", .index = 1, .index_failures = 1}},
       "FailedIndexes"},
      {indexed + R"("successPolicy":{"rules":[{"succeededIndexes":"0,2"}]})",
       R"("completedIndexes":"0","succeeded":1)",
       {{.name = "a", .index = 1}},
       ""},
      {indexed + R"("successPolicy":{"rules":[{"succeededIndexes":"0-2","succeededCount":2}]})",
       R"("completedIndexes":"0","succeeded":1)",
       {{.name = "a", .index = 1}, {.name = "b", .phase = "Succeeded", .index = 2}},
       "SuccessPolicy"},
      {R"("completions":1)",
       R"("conditions":[{"type":"FailureTarget","status":"True","reason":"Why"}])",
       {{.name = "a", .phase = "Succeeded"}},
       "Why"},
  };
  for (const Case& each : cases) {
    const auto job = make_job(each.spec, each.status);
    const auto pods = make_pods(each.pods);
    const JobPlan made = plan(*job, pods);
    EXPECT_EQ(made.end ? made.end->reason : "", each.reason) << each.spec << each.status;
    if (made.end && made.end->reason != "CompletionsReached") {
      std::size_t active = 0;
      for (const JobPod& pod : pods) active += pod.is_active() ? 1 : 0;
      EXPECT_EQ(made.pods.remove.size(), active) << each.spec;
      EXPECT_TRUE(made.keep_tracked);
    }
  }
}

TEST(JobPlan, OnlyRestartsInPodsThatRunCount) {
  const std::string restarted =
      R"("containerStatuses":[{"restartCount":1}],"initContainerStatuses":[{"restartCount":1}])";
  const auto ends = [&](const std::string& policy, const std::string& phase) {
    const auto job = make_job(fmt::format(
        R"("completions":3,"backoffLimit":2,"template":{{"spec":{{"restartPolicy":"{}"}}}})",
        policy));
    const auto pods = make_pods({{.name = "a", .phase = phase, .more_status = restarted}});
    return plan(*job, pods).end.has_value();
  };
  EXPECT_TRUE(ends("OnFailure", "Running")) << "those of init containers too";
  EXPECT_TRUE(ends("OnFailure", "Pending"));
  EXPECT_FALSE(ends("OnFailure", "Succeeded"));
  EXPECT_FALSE(ends("Never", "Running"));
}

TEST(JobPlan, ASuspendedJobHasNoDeadline) {
  const auto job = make_job(R"("completions":1,"suspend":true,"activeDeadlineSeconds":60)",
                            R"("startTime":"2025-12-31T23:00:00Z")");
  const JobPlan made = plan(*job, {});
  EXPECT_FALSE(made.end);
  EXPECT_EQ(made.again, std::nullopt);
}

TEST(JobPlan, AFailedIndexIsReplacedOnceItsPauseIsOverAndCarriesItsCount) {
  const auto job = make_job(
      R"("parallelism":2,"completions":2,"completionMode":"Indexed","backoffLimit":9,"backoffLimitPerIndex":3)");
  const auto pods = make_pods({{.name = "a", .phase = "Failed", .index = 0, .index_failures = 1}});
  const JobPlan early = plan(*job, pods);
  EXPECT_EQ(indexes_of(early), std::vector<std::int32_t>{1});
  EXPECT_EQ(early.again, kNow + seconds{20});
  EXPECT_TRUE(early.tracking.untrack.empty() && early.tracking.status.uncounted_failed.empty())
      << "it is kept until its replacement exists";
  const JobPlan later = plan(*job, pods, kNow + seconds{20});
  ASSERT_EQ(later.pods.create.size(), 2U);
  EXPECT_EQ(later.pods.create[0].index_failures, 2);

  const auto replaced =
      make_pods({{.name = "a", .phase = "Failed", .index = 0, .index_failures = 1},
                 {.name = "b", .index = 0, .index_failures = 2},
                 {.name = "c", .index = 1, .index_failures = 0}});
  EXPECT_EQ(plan(*job, replaced).tracking.status.uncounted_failed, Texts{"u-a"});
}

TEST(JobPlan, LooksAgainWhenTheFirstOfSeveralPausesIsOver) {
  const auto job = make_job(
      R"("parallelism":2,"completions":2,"completionMode":"Indexed","backoffLimit":9,"backoffLimitPerIndex":5)");
  for (const int failures : {0, 1}) {
    const auto pods =
        make_pods({{.name = "a", .phase = "Failed", .index = 0, .index_failures = failures},
                   {.name = "b", .phase = "Failed", .index = 1, .index_failures = 1 - failures}});
    const JobPlan made = plan(*job, pods);
    EXPECT_TRUE(made.pods.create.empty());
    EXPECT_EQ(made.again, kNow + seconds{10});
  }
}

TEST(JobPlan, AnIgnoredFailureDoesNotCount) {
  const auto job = make_job(
      R"("completions":1,"backoffLimit":0,"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[
         {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]})");
  const auto pods = make_pods({{.name = "a", .phase = "Failed"}});
  EXPECT_TRUE(plan(*job, pods).end);
  const JobPod disrupted(api::Object::make(
      api::kinds::pod(),
      parsed(
          R"({"metadata":{"name":"a","namespace":"ns","uid":"u-a","creationTimestamp":"2026-01-01T00:00:00Z",
          "finalizers":["batch.kubernetes.io/job-tracking"]},"spec":{},"status":{"phase":"Failed",
          "conditions":[{"type":"DisruptionTarget","status":"True"}]}})")));
  const JobPlan made = plan(*job, {disrupted});
  EXPECT_FALSE(made.end);
  EXPECT_TRUE(made.tracking.status.uncounted_failed.empty());
  EXPECT_EQ(made.tracking.untrack.size(), 1U);
}

TEST(JobPlan, AScaledDownIndexedJobForgetsWhatIsBeyond) {
  const auto job = make_job(R"("parallelism":2,"completions":2,"completionMode":"Indexed")",
                            R"("completedIndexes":"0,3-5","succeeded":4)");
  const auto pods = make_pods({{.name = "a", .index = 1}, {.name = "b", .index = 2}});
  const JobPlan made = plan(*job, pods);
  EXPECT_EQ(names_of(made.pods.remove), Texts{"b"});
  EXPECT_EQ(made.tracking.status.completed_indexes, "0");
  EXPECT_EQ(made.tracking.status.succeeded, 1);
}

}  // namespace
}  // namespace muster::controllers
