#include "controllers/job/job_end.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "controllers/job/job_plan.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

JobPlan plan(const api::JobView& job, std::vector<JobPod> pods, Time now = kNow) {
  static std::deque<std::vector<JobPod>> kept;  // the plan refers to them
  PodBackoff backoff;
  return plan_job(state_of(job, kept.emplace_back(std::move(pods)), now), backoff);
}

// "condition reason: message"; empty: the Job goes on.
std::string end_of(std::string_view spec, std::string_view status = "",
                   const std::vector<PodText>& pods = {}) {
  const auto job = make_job(spec, status);
  const JobPlan made = plan(*job, make_pods(pods));
  if (!made.end) return "";
  return fmt::format("{} {}: {}", made.end->condition(), made.end->reason, made.end->message);
}

const std::string kIndexed = R"("parallelism":3,"completions":3,"completionMode":"Indexed")";

TEST(JobEnd, SaysWhy) {
  EXPECT_EQ(end_of(R"("completions":0)"),
            "Complete CompletionsReached: Reached expected number of succeeded pods");
  EXPECT_EQ(end_of(R"("backoffLimit":0)", R"("failed":1)"),
            "Failed BackoffLimitExceeded: Job has reached the specified backoff limit");
  EXPECT_EQ(end_of(R"("activeDeadlineSeconds":0)"),
            "Failed DeadlineExceeded: Job was active longer than specified deadline");
  EXPECT_EQ(end_of(kIndexed + R"(,"backoffLimitPerIndex":0,"maxFailedIndexes":0)",
                   R"("failedIndexes":"1")"),
            "Failed MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of "
            "failed indexes");
  EXPECT_EQ(end_of(kIndexed + R"(,"backoffLimitPerIndex":0)",
                   R"("failedIndexes":"1","completedIndexes":"0,2")"),
            "Failed FailedIndexes: Job has failed indexes");
}

TEST(JobEnd, WhatWasAnnouncedHoldsAndASuccessBeforeAFailure) {
  const auto announced = [](std::string_view type, std::string_view status) {
    return fmt::format(R"({{"type":"{}","status":"{}","reason":"{}","message":"M"}})", type, status,
                       type);
  };
  const auto end = [&](const std::string& conditions) {
    return end_of(R"("completions":3)", R"("conditions":[)" + conditions + "]");
  };
  EXPECT_EQ(end(announced("SuccessCriteriaMet", "True")), "Complete SuccessCriteriaMet: M");
  EXPECT_EQ(end(announced("FailureTarget", "True")), "Failed FailureTarget: M");
  EXPECT_EQ(end(announced("FailureTarget", "False")), "");
  EXPECT_EQ(end(announced("FailureTarget", "True") + "," + announced("SuccessCriteriaMet", "True")),
            "Complete SuccessCriteriaMet: M");
}

TEST(JobEnd, ARuleComesBeforeTheLimitAndTheLimitBeforeTheDeadline) {
  const std::string limits = R"("backoffLimit":0,"activeDeadlineSeconds":0)";
  const std::string rule =
      R"(,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[7]}}]})";
  const PodText failed{
      .name = "a",
      .phase = "Failed",
      .more_status = R"("containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":7}}}])"};
  EXPECT_EQ(end_of(limits + rule, "", {failed}),
            "Failed PodFailurePolicy: Container c for pod ns/a failed with exit code 7 matching "
            "FailJob rule at index 0");
  EXPECT_TRUE(end_of(limits, "", {failed}).starts_with("Failed BackoffLimitExceeded"));
  EXPECT_TRUE(end_of(limits).starts_with("Failed DeadlineExceeded"));
}

TEST(JobEnd, ASuccessRuleIsMetByItsIndexesOrTheirNumber) {
  const auto end = [](std::string_view rules, std::string_view completed) {
    return end_of(kIndexed + fmt::format(R"(,"successPolicy":{{"rules":[{}]}})", rules),
                  fmt::format(R"("completedIndexes":"{}")", completed));
  };
  const std::string met = "Complete SuccessPolicy: Matched rules at index ";
  EXPECT_EQ(end(R"({"succeededCount":2})", "0"), "");
  EXPECT_EQ(end(R"({"succeededCount":2})", "0,2"), met + "0");
  EXPECT_EQ(end(R"({"succeededIndexes":"0-1"})", "0,2"), "");
  EXPECT_EQ(end(R"({"succeededIndexes":"0-1"})", "0,1"), met + "0");
  EXPECT_EQ(end(R"({"succeededIndexes":"0-1","succeededCount":1})", "1"), met + "0");
  EXPECT_EQ(end(R"({"succeededIndexes":"0-1","succeededCount":1})", "2"), "") << "not one of them";
  EXPECT_EQ(end(R"({"succeededIndexes":"0-1"},{"succeededIndexes":"2"})", "2"), met + "1");
  EXPECT_EQ(end(R"({"succeededIndexes":"7"})", ""), "") << "of no index that it has";
}

TEST(JobEnd, FailedIndexesCountAgainstTheirLimit) {
  const auto end = [](std::string_view more, std::string_view failed) {
    return end_of(kIndexed + R"(,"backoffLimitPerIndex":0)" + std::string(more),
                  fmt::format(R"("failedIndexes":"{}")", failed));
  };
  EXPECT_EQ(end(R"(,"maxFailedIndexes":1)", "1"), "");
  EXPECT_NE(end(R"(,"maxFailedIndexes":1)", "1,2"), "");
  EXPECT_EQ(end("", "0,1"), "") << "one index may still succeed";
  EXPECT_NE(end("", "0-2"), "");
}

TEST(JobEnd, LooksAgainAtTheDeadlineOfAJobThatRuns) {
  const auto again = [](std::string_view spec, std::string_view status = "") {
    const auto job = make_job(std::string(spec) + R"(,"parallelism":0,"completions":3)", status);
    return plan(*job, {}).again;
  };
  EXPECT_EQ(again(R"("activeDeadlineSeconds":60)"), kNow + seconds{60}) << "it starts now";
  EXPECT_EQ(again(R"("activeDeadlineSeconds":60)", R"("startTime":"2025-12-31T23:59:50Z")"),
            kNow + seconds{50});
  EXPECT_EQ(again(R"("activeDeadlineSeconds":9223372036854775807)"), std::nullopt);
  EXPECT_EQ(again(R"("backoffLimit":6)"), std::nullopt);
}

TEST(JobEnd, MoreSuccessesThanWantedAreSaid) {
  const auto job = make_job(R"("completions":2)", R"("succeeded":3)");
  EXPECT_TRUE(plan(*job, {}).too_many_succeeded);
  const auto enough = make_job(R"("completions":2)", R"("succeeded":2)");
  EXPECT_FALSE(plan(*enough, {}).too_many_succeeded);
  const auto queue = make_job(R"("parallelism":2)", R"("succeeded":2)");
  EXPECT_FALSE(plan(*queue, {}).too_many_succeeded);
}

TEST(JobEnd, OfTwoFailuresOfAnIndexTheLaterKnowsHowManyThereWere) {
  const auto job = make_job(
      R"("parallelism":1,"completions":1,"completionMode":"Indexed","backoffLimit":99,"backoffLimitPerIndex":9)");
  const auto replaced = [&](const PodText& a, const PodText& b) {
    const JobPlan made = plan(*job, make_pods({a, b}), kNow + std::chrono::hours{1});
    EXPECT_EQ(made.pods.create.size(), 1U);
    return made.pods.create.at(0).index_failures;
  };
  const PodText first{.name = "a", .phase = "Failed", .index = 0, .index_failures = 0};
  const PodText second{.name = "b", .phase = "Failed", .index = 0, .index_failures = 1};
  EXPECT_EQ(replaced(first, second), 2);
  EXPECT_EQ(replaced(second, first), 2);
}

TEST(Tracking, AJobThatMayNotStartIsBlockedAndHasNotStarted) {
  const auto job = make_job(R"("completions":1)");
  JobState state = state_of(*job, {});
  state.may_create = false;
  state.blocked = api::Condition{"SchedulingBlocked", "True", "Why", "because", 0};
  PodBackoff backoff;
  const JobPlan made = plan_job(state, backoff);
  EXPECT_FALSE(made.changes_pods());
  EXPECT_EQ(made.tracking.status.start_time, std::nullopt);
  ASSERT_TRUE(made.tracking.blocked);
  EXPECT_EQ(made.tracking.blocked->message, "because");
  const std::string_view said =
      R"("conditions":[{"type":"SchedulingBlocked","status":"True","reason":"Why","message":"because"}])";
  const auto blocked = make_job(R"("completions":1)", said);
  JobState still = state_of(*blocked, {});
  still.may_create = false;
  still.blocked = state.blocked;
  EXPECT_FALSE(plan_job(still, backoff).tracking.blocked) << "it was said";
  const JobPlan free = plan(*blocked, {});
  ASSERT_EQ(free.tracking.status.conditions.size(), 1U);
  EXPECT_EQ(free.tracking.status.conditions[0].status, "False");
  EXPECT_EQ(free.tracking.status.conditions[0].reason, "Unblocked");
  EXPECT_EQ(free.tracking.status.conditions[0].message, "Job can be scheduled");
  EXPECT_EQ(free.tracking.status.start_time, kNow);
}

TEST(Tracking, AnyMemberThatIsNotTrueIsWritten) {
  const std::string done =
      R"("startTime":"2026-01-01T00:00:00Z","active":1,"ready":1,"terminating":0)";
  const auto changed = [&](std::string_view status) {
    const auto job = make_job(R"("completions":3,"parallelism":1)", status);
    return plan(*job, make_pods({{.name = "a", .ready = true}})).tracking.changed;
  };
  EXPECT_FALSE(changed(done));
  for (const std::string_view status :
       {R"("active":1,"ready":1,"terminating":0)",
        R"("startTime":"2026-01-01T00:00:00Z","active":2,"ready":1,"terminating":0)",
        R"("startTime":"2026-01-01T00:00:00Z","active":1,"ready":0,"terminating":0)",
        R"("startTime":"2026-01-01T00:00:00Z","active":1,"ready":1,"terminating":1)"})
    EXPECT_TRUE(changed(status)) << status;
}

TEST(Tracking, ConditionsAreAddedOnlyToSayTrueAndReplacedIfAnythingDiffers) {
  std::vector<api::JobCondition> conditions;
  const auto set = [&](std::string_view status, std::string_view reason, std::string_view message) {
    return set_condition(
        conditions, {"T", std::string(status), std::string(reason), std::string(message), 0}, kNow);
  };
  EXPECT_FALSE(set("False", "R", "M"));
  EXPECT_TRUE(conditions.empty());
  EXPECT_TRUE(set("True", "R", "M"));
  EXPECT_FALSE(set("True", "R", "M"));
  EXPECT_TRUE(set("True", "R2", "M"));
  EXPECT_TRUE(set("True", "R2", "M2"));
  EXPECT_TRUE(set("False", "R2", "M2"));
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].status, "False");
}

}  // namespace
}  // namespace muster::controllers
