#include "controllers/job/job_status.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/views/controller_revision_view.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

// What is written of a Job whose status has the members `before`, to say those of `wanted`.
std::string written(std::string_view before, std::string_view wanted, Time now = kNow) {
  const api::ObjectPtr job = api::Object::make(
      *api::find_kind("batch", "Job"),
      parsed(fmt::format(R"({{"metadata":{{"name":"j","namespace":"ns","uid":"uj"}},)"
                         R"("spec":{{}},"status":{{{}}}}})",
                         before)));
  const api::Request request = status_request(*job, make_job("", wanted)->status, now);
  EXPECT_EQ(request.subresource, "status");
  const api::JsonArray& steps = request.body.get_array();
  EXPECT_EQ(api::to_text(steps.at(0)),
            R"({"op":"test","path":"/metadata/resourceVersion","value":"0"})");
  EXPECT_EQ(api::find_string(steps.at(1), "path"), "/status");
  return api::sorted_text(*api::find(steps.at(1), "value"));
}

constexpr std::string_view kFull =
    R"("active":1,"completedIndexes":"0-1","completionTime":"2026-01-01T00:00:09Z",)"
    R"("conditions":[],"failed":3,"failedIndexes":"","ready":0,)"
    R"("startTime":"2026-01-01T00:00:00Z","succeeded":2,"terminating":0,)"
    R"("uncountedTerminatedPods":{"failed":["b"],"succeeded":["a","c"]})";

TEST(JobStatus, SaysAllThatItHas) { EXPECT_EQ(written("", kFull), fmt::format("{{{}}}", kFull)); }

// The start of a suspended Job is of these.
TEST(JobStatus, WhatItNoLongerHasIsTakenOut) {
  EXPECT_EQ(written(kFull, ""), R"({"conditions":[],"failedIndexes":"","ready":0,"terminating":0,)"
                                R"("uncountedTerminatedPods":{}})");
  EXPECT_EQ(written(R"("startTime":"2026-01-01T00:00:00Z")",
                    R"("completionTime":"2026-01-01T00:00:09Z")"),
            R"({"completionTime":"2026-01-01T00:00:09Z","conditions":[],)"
            R"("uncountedTerminatedPods":{}})");
}

std::string condition(std::string_view type, std::string_view status, std::string_view reason,
                      std::string_view message, std::string_view more = "") {
  return fmt::format(
      R"("conditions":[{{{}"message":"{}","reason":"{}","status":"{}","type":"{}"}}])", more,
      message, reason, status, type);
}

// All that makes a condition another one, and so gives it a new time.
TEST(JobStatus, AConditionKeepsItsTimeWhileItSaysTheSame) {
  const std::string old = condition(
      "Suspended", "True", "JobSuspended", "rests",
      R"("lastProbeTime":"2025-01-02T00:00:00Z","lastTransitionTime":"2025-01-01T00:00:00Z",)");
  EXPECT_EQ(written(old, condition("Suspended", "True", "JobSuspended", "rests")),
            fmt::format(R"({{{},"uncountedTerminatedPods":{{}}}})", old));
  struct Case {
    std::string_view type, status, reason, message;
  };
  for (const Case& each : {Case{"Failed", "True", "JobSuspended", "rests"},
                           Case{"Suspended", "False", "JobSuspended", "rests"},
                           Case{"Suspended", "True", "JobResumed", "rests"},
                           Case{"Suspended", "True", "JobSuspended", "runs"}}) {
    const auto says = [&](std::string_view more) {
      return condition(each.type, each.status, each.reason, each.message, more);
    };
    EXPECT_EQ(written(old, says(""), kNow + seconds{5}),
              fmt::format(R"({{{},"uncountedTerminatedPods":{{}}}})",
                          says(R"("lastProbeTime":"2026-01-01T00:00:05Z",)"
                               R"("lastTransitionTime":"2026-01-01T00:00:05Z",)")));
  }
}

}  // namespace
}  // namespace muster::controllers
