#include "api/views/job_view.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

std::unique_ptr<JobView> view_of(std::string_view json) {
  const Result<ParsedJson> parsed = parse_json(json);
  EXPECT_TRUE(parsed) << json;
  return JobView::of(parsed->value);
}

TEST(JobView, ReadsWhatTheSpecSays) {
  const auto job = view_of(R"({"metadata":{"name":"j"},"spec":{
    "parallelism":3,"completions":5,"completionMode":"Indexed","backoffLimit":2,
    "backoffLimitPerIndex":1,"maxFailedIndexes":4,"activeDeadlineSeconds":60,
    "ttlSecondsAfterFinished":9,"suspend":true,"podReplacementPolicy":"Failed",
    "selector":{"matchLabels":{"a":"b"}},
    "podFailurePolicy":{"rules":[
      {"action":"FailJob","onExitCodes":{"containerName":"c","operator":"NotIn","values":[1,7]}},
      {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]},
    "successPolicy":{"rules":[{"succeededIndexes":"0,2","succeededCount":1}]},
    "scheduling":{"schedulingPolicy":{"gang":{"minCount":3}}},
    "template":{"spec":{"restartPolicy":"OnFailure","priorityClassName":"high"}}}})");
  EXPECT_TRUE(job->says_scheduling);
  EXPECT_EQ(job->gang_minimum, 3);
  EXPECT_EQ(job->priority_class, "high");
  EXPECT_FALSE(job->pods_name_group);
  EXPECT_EQ(job->parallelism, 3);
  EXPECT_EQ(job->completions, 5);
  EXPECT_TRUE(job->is_indexed());
  EXPECT_EQ(job->backoff_limit, 2);
  EXPECT_EQ(job->backoff_limit_per_index, 1);
  EXPECT_EQ(job->max_failed_indexes, 4);
  EXPECT_EQ(job->active_deadline_s, 60);
  EXPECT_EQ(job->ttl_s, 9);
  EXPECT_TRUE(job->suspend && job->replaces_failed_only && job->restarts_on_failure);
  ASSERT_TRUE(job->selector);
  EXPECT_TRUE(job->selector->matches({{"a", "b"}}));
  ASSERT_EQ(job->failure_rules.size(), 2U);
  EXPECT_EQ(job->failure_rules[0].action, PodFailureRule::Action::FailJob);
  EXPECT_EQ(job->failure_rules[0].container, "c");
  EXPECT_TRUE(job->failure_rules[0].codes_not_in);
  EXPECT_EQ(job->failure_rules[0].codes, (std::vector<std::int32_t>{1, 7}));
  EXPECT_EQ(action_name(job->failure_rules[1].action), "Ignore");
  ASSERT_EQ(job->failure_rules[1].conditions.size(), 1U);
  EXPECT_EQ(job->failure_rules[1].conditions[0].status, "True");
  ASSERT_EQ(job->success_rules.size(), 1U);
  EXPECT_EQ(job->success_rules[0].indexes, "0,2");
  EXPECT_EQ(job->success_rules[0].count, 1);
}

TEST(JobView, ReadsHowFarItHasCome) {
  const auto job = view_of(R"({"spec":{},"status":{
    "active":1,"succeeded":2,"failed":3,"ready":0,"completedIndexes":"0-2",
    "uncountedTerminatedPods":{"succeeded":["u1"],"failed":["u2","u3"]},
    "startTime":"2026-01-01T00:00:00Z",
    "conditions":[{"type":"Failed","status":"True","reason":"R",
                   "lastTransitionTime":"2026-01-01T00:00:05Z"}]}})");
  EXPECT_EQ(job->status.active, 1);
  EXPECT_EQ(job->status.succeeded, 2);
  EXPECT_EQ(job->status.failed, 3);
  EXPECT_EQ(job->status.ready, 0);
  EXPECT_EQ(job->status.terminating, std::nullopt);
  EXPECT_EQ(job->status.completed_indexes, "0-2");
  EXPECT_EQ(job->status.uncounted_succeeded, std::vector<std::string>{"u1"});
  EXPECT_EQ(job->status.uncounted_failed, (std::vector<std::string>{"u2", "u3"}));
  EXPECT_EQ(job->status.start_time, parse_time("2026-01-01T00:00:00Z"));
  EXPECT_TRUE(job->is_finished());
  EXPECT_EQ(job->condition("Failed")->last_transition, parse_time("2026-01-01T00:00:05Z"));
}

TEST(JobView, AnEmptyOneHasTheDefaults) {
  const auto job = view_of(R"({"spec":{}})");
  EXPECT_EQ(job->parallelism, 1);
  EXPECT_EQ(job->completions, std::nullopt);
  EXPECT_EQ(job->backoff_limit, 6);
  EXPECT_FALSE(job->is_indexed() || job->suspend || job->is_finished() || job->judges_failures);
}

}  // namespace
}  // namespace muster::api
