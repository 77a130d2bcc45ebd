#include "api/validation/job_set_scheduling.h"

#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

// What the mapping of JobSets refuses is tested there; here is what may change.
namespace muster::api {
namespace {

constexpr std::string_view kGroup = "jobset.x-k8s.io";

std::string job_set(std::string_view members, int pods = 4) {
  return fmt::format(
      R"({{"metadata":{{"name":"js"}},"spec":{{"replicatedJobs":[{{"name":"a","template":{{"spec":{{
          "parallelism":{0},"completions":{0},{1}}}}}}}]{2}{3}}}}})",
      pods, pod_template(), members.empty() ? "" : ",", members);
}

TEST(JobSetScheduling, ChangesOnlyWhileTheSetRests) {
  const std::string gang = R"("scheduling":{"schedulingPolicy":{"gang":{}}})";
  const std::string basic = R"("scheduling":{"schedulingPolicy":{"basic":{}}})";
  const std::string refused =
      "spec.scheduling: Forbidden: may only change while the JobSet is suspended";
  expect({kGroup, "JobSet", job_set(basic), {refused}, job_set(gang)});
  expect({kGroup, "JobSet", job_set(""), {refused}, job_set(gang)});
  expect({kGroup, "JobSet", job_set(basic), {}, job_set(gang + R"(,"suspend":true)")});
  expect({kGroup,
          "JobSet",
          job_set(R"("scheduling":{"schedulingPolicy":{"gang":{"minCount":2}}})"),
          {},
          job_set(R"("scheduling":{"schedulingPolicy":{"gang":{"minCount":3}}})")});
}

TEST(JobSetScheduling, SizesOfIndexedJobsChange) {
  const std::string gang = R"("scheduling":{"schedulingPolicy":{"gang":{}}})";
  expect({kGroup, "JobSet", job_set(gang, 6), {}, job_set(gang, 4)});
  expect({kGroup, "JobSet", job_set("", 2), {}, job_set("", 4)});
  expect({kGroup,
          "JobSet",
          job_set(R"("scheduling":{"schedulingPolicy":{"gang":{"minCount":4}}})", 2),
          {"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 4: must not be greater "
           "than the number of its pods (2)"},
          job_set(R"("scheduling":{"schedulingPolicy":{"gang":{"minCount":4}}})", 4)});
  std::string ended = job_set("", 4);
  ended.insert(ended.size() - 1,
               R"(,"status":{"conditions":[{"type":"Completed","status":"True","reason":"r",)"
               R"("message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  const Json now = prepared(*find_kind(kGroup, "JobSet"), job_set("", 2));
  const Json old = prepared(*find_kind(kGroup, "JobSet"), ended);
  FieldErrors errors;
  rules::validate_job_set(now, &old, errors);
  EXPECT_EQ(errors.size(), 1U) << "it has ended";
}

TEST(JobSetScheduling, WhatNeedsAnAgentInPodsIsRefused) {
  const std::string in_place = R"("failurePolicy":{"restartStrategy":"InPlaceRestart"})";
  expect({kGroup,
          "JobSet",
          job_set(in_place),
          {"spec.failurePolicy.restartStrategy: Forbidden: InPlaceRestart is not supported by this "
           "controller"}});
  expect({kGroup, "JobSet", job_set(in_place + R"(,"managedBy":"acme.io/other")"), {}});
}

TEST(JobSetScheduling, PatternsMustBeExpressions) {
  FieldErrors errors;
  const Json now = prepared(
      *find_kind(kGroup, "JobSet"),
      job_set(
          R"("failurePolicy":{"rules":[{"action":"FailJobSet","onJobFailureMessagePatterns":["a(b","fine"]}]})"));
  rules::validate_job_set(now, nullptr, errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.causes()[0].field, "spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]");
}

}  // namespace
}  // namespace muster::api
