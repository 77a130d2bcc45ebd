#include "controllers/job/failure_policy.h"

#include <gtest/gtest.h>

#include "controllers/job/job_plan.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

using Action = api::PodFailureRule::Action;

TEST(FailurePolicy, TheFirstRuleThatMatchesDecides) {
  const auto job = make_job(R"("podFailurePolicy":{"rules":[
    {"action":"Ignore","onExitCodes":{"containerName":"side","operator":"In","values":[1,2]}},
    {"action":"FailIndex","onExitCodes":{"operator":"In","values":[9]}},
    {"action":"FailJob","onExitCodes":{"operator":"NotIn","values":[1,2,3]}},
    {"action":"Count","onPodConditions":[{"type":"Ready","status":"False"}]}]})");
  struct Case {
    std::string statuses;
    std::optional<Action> action;
    std::string message;
  };
  const auto exits = [](std::string_view list, std::string_view container, int code) {
    return fmt::format(R"("{}":[{{"name":"{}","state":{{"terminated":{{"exitCode":{}}}}}}}])", list,
                       container, code);
  };
  const Case cases[] = {
      {exits("containerStatuses", "side", 2), Action::Ignore, ""},
      {exits("containerStatuses", "main", 2), Action::Count, ""},
      {exits("containerStatuses", "main", 9), Action::FailIndex, ""},
      {exits("containerStatuses", "main", 0), Action::Count, ""},
      {exits("initContainerStatuses", "prepare", 42), Action::FailJob,
       "Container prepare for pod ns/a failed with exit code 42 matching FailJob rule at index 2"},
  };
  for (const Case& each : cases) {
    const FailureJudgement judgement = judge_failure(
        *job, make_pod({.name = "a", .phase = "Failed", .more_status = each.statuses}));
    EXPECT_EQ(judgement.action, each.action) << each.statuses;
    EXPECT_EQ(judgement.message, each.message);
    EXPECT_EQ(judgement.counts(), each.action != Action::Ignore);
  }
}

TEST(FailurePolicy, NamesTheConditionThatFailsTheJob) {
  const auto job = make_job(
      R"("podFailurePolicy":{"rules":[{"action":"FailJob","onPodConditions":[{"type":"Ready","status":"False"}]}]})");
  EXPECT_EQ(judge_failure(*job, make_pod({.name = "a", .phase = "Failed"})).message,
            "Pod ns/a has condition Ready matching FailJob rule at index 0");
  EXPECT_EQ(judge_failure(*job, make_pod({.name = "a", .phase = "Failed", .ready = true})).action,
            std::nullopt);
}

TEST(FailurePolicy, EndsAnIndexAtOnceOrSparesIt) {
  const auto job = make_job(
      R"("parallelism":3,"completions":3,"completionMode":"Indexed","backoffLimit":9,
         "backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[
         {"action":"FailIndex","onExitCodes":{"operator":"In","values":[7]}},
         {"action":"Ignore","onExitCodes":{"operator":"In","values":[8]}}]})");
  const auto ended = [](int code) {
    return fmt::format(
        R"("containerStatuses":[{{"name":"c","state":{{"terminated":{{"exitCode":{}}}}}}}])", code);
  };
  const auto pods = make_pods(
      {{.name = "a", .phase = "Failed", .index = 0, .index_failures = 0, .more_status = ended(7)},
       {.name = "b", .phase = "Failed", .index = 1, .index_failures = 1, .more_status = ended(8)},
       {.name = "c", .index = 2}});
  PodBackoff backoff;
  const JobPlan made = plan_job(state_of(*job, pods, kNow + std::chrono::minutes{1}), backoff);
  EXPECT_FALSE(made.end);
  EXPECT_EQ(made.tracking.status.failed_indexes, "0");
  ASSERT_EQ(made.pods.create.size(), 1U);
  EXPECT_EQ(made.pods.create[0].index, 1);
  EXPECT_EQ(made.pods.create[0].index_failures, 1);
  EXPECT_EQ(made.pods.create[0].ignored_index_failures, 1);
}

}  // namespace
}  // namespace muster::controllers
