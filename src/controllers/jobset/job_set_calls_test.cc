#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "controllers/common/controller_testing.h"
#include "controllers/jobset/job_set_controller.h"
#include "controllers/jobset/job_set_keys.h"
#include "controllers/jobset/shared_claims.h"

namespace muster::controllers {
namespace {

// What becomes of a plan: the calls about one set "js" of one Job "js-w-0".
class JobSetCallsTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }

  api::ObjectPtr a_set(std::string_view spec = R"("network":{"enableDNSHostnames":false})",
                       std::string_view status = "") {
    return object(job_set_kind(),
                  fmt::format(R"({{"metadata":{{"name":"js","namespace":"ns","uid":"ujs",
        "generation":1}},"spec":{{"replicatedJobs":[{{"name":"w","replicas":1,"template":{{"spec":
        {{"parallelism":1,"completions":1,"template":{{"spec":{{}}}}}}}}}}],{}}},"status":{{{}}}}})",
                              spec, status));
  }
  api::ObjectPtr a_job(std::string_view status = "", int generation = 1, bool suspend = false) {
    return object(
        *api::find_kind("batch", "Job"),
        fmt::format(R"({{"metadata":{{"name":"js-w-0","namespace":"ns","uid":"uj","generation":{},
        "labels":{{"{}":"w","{}":"0","{}":"0"}},"ownerReferences":[{{"apiVersion":
        "jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"js","uid":"ujs","controller":true}}]}},
        "spec":{{"parallelism":1,"completions":1,"suspend":{}}},"status":{{{}}}}})",
                    generation, job_set::kJobName, job_set::kJobIndex, job_set::kRestartAttempt,
                    suspend, status));
  }
  void refuse_in_ending_namespace(std::size_t call) {
    Error error = make_error(Reason::Forbidden, "no");
    error.causes.push_back({.type = "NamespaceTerminating", .field = "", .message = ""});
    controller_.apply(client::Called{sent_[calls_.at(call)].second, fail(error)}, now_);
  }

  JobSetController controller_{workload::JobOptions(), context()};
};

const std::string kQuiet = R"("network":{"enableDNSHostnames":false})";

TEST_F(JobSetCallsTest, ARefusedJobIsSaidUnlessItsNamespaceEnds) {
  show(a_set());
  sync();
  EXPECT_EQ(asked(), (Texts{"create jobs", "patch jobsets/js/status"}));
  EXPECT_EQ(api::find_string(*api::find_path(body(0), "metadata"), "name"), "js-w-0");
  refuse(1, Reason::NotFound);
  refuse_in_ending_namespace(0);
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked().front(), "create jobs");
  EXPECT_EQ(events_, Texts{});
  refuse(2, Reason::Forbidden);
  asked();
  EXPECT_EQ(events_, Texts{"JobCreationFailed no"});
}

TEST_F(JobSetCallsTest, AServiceIsMadeAndItsRefusalSaid) {
  show(a_set(R"("network":{"enableDNSHostnames":true})"));
  sync();
  EXPECT_EQ(asked().front(), "create services");
  refuse(0, Reason::Forbidden);
  asked();
  EXPECT_EQ(events_, Texts{"HeadlessServiceCreationFailed no"});
}

TEST_F(JobSetCallsTest, ClaimsThatAreMissingAreMade) {
  const std::string claims = kQuiet + R"(,"volumeClaimPolicies":[{"templates":[
      {"metadata":{"name":"data"},"spec":{}},{"metadata":{"name":"log"},"spec":{}}]}])";
  show(object(*api::find_kind("", "PersistentVolumeClaim"),
              R"({"metadata":{"name":"data-js","namespace":"ns","uid":"uc"}})"));
  show(a_set(claims));
  sync();
  EXPECT_EQ(asked(),
            (Texts{"create persistentvolumeclaims", "create jobs", "patch jobsets/js/status"}));
  EXPECT_EQ(api::find_string(*api::find_path(body(0), "metadata"), "name"), "log-js");
  refuse(0, Reason::Forbidden);
  asked();
  EXPECT_EQ(events_, Texts{"PersistentVolumeClaimCreationFailed no"});
}

TEST_F(JobSetCallsTest, JobsOfASuspendedSetAreSuspended) {
  show(a_job());
  show(a_set(kQuiet + R"(,"suspend":true)"));
  sync();
  EXPECT_EQ(asked(), (Texts{"patch jobs/js-w-0", "patch jobsets/js/status"}));
  EXPECT_EQ(api::to_text(body(0)), R"({"metadata":{"uid":"uj"},"spec":{"suspend":true}})");
}

TEST_F(JobSetCallsTest, ASuspendedJobOfASetThatRunsIsResumed) {
  show(a_job("", 1, true));
  show(a_set());
  sync();
  const Texts calls = asked();
  EXPECT_EQ(calls.front(), "patch jobs/js-w-0");
  EXPECT_NE(api::to_text(body(0)).find(R"("suspend":false)"), std::string::npos);
}

TEST_F(JobSetCallsTest, TheJobsOfAnEndedSetGoWithTheirPods) {
  show(a_job());
  show(a_set(kQuiet, R"("conditions":[{"type":"Completed","status":"True"}],
      "terminalState":"Completed")"));
  sync();
  EXPECT_EQ(asked().front(), "delete jobs/js-w-0");
  EXPECT_EQ(sent_[calls_[0]].first.remove.propagation_policy, "Foreground");
  refuse(0, Reason::Forbidden);
  asked();
  EXPECT_EQ(events_, Texts{"JobDeletionFailed Error deleting job js-w-0: no"});
  for (std::size_t call = 1; call < calls_.size(); ++call) refuse(call, Reason::NotFound);
  now_ += std::chrono::minutes{1};
  const std::size_t next = calls_.size();
  ASSERT_EQ(asked().front(), "delete jobs/js-w-0");
  refuse(next, Reason::NotFound);
  asked();
  EXPECT_EQ(events_.size(), 1U) << "it is gone";
}

TEST_F(JobSetCallsTest, AnEndedSetGoesWhenItsTimeIsOver) {
  show(a_set(kQuiet + R"(,"ttlSecondsAfterFinished":60)",
             R"("conditions":[{"type":"Failed","status":"True",
             "lastTransitionTime":"2026-01-01T00:00:00Z"}],"terminalState":"Failed")"));
  sync();
  Texts calls = asked();
  for (std::size_t call = 0; call < calls.size(); ++call) refuse(call, Reason::NotFound);
  now_ += std::chrono::seconds{59};
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked(), Texts{"delete jobsets/js"});
  EXPECT_EQ(sent_[calls_.back()].first.remove.propagation_policy, "Foreground");
}

TEST_F(JobSetCallsTest, WhatHappenedIsSaidOnceItIsWritten) {
  show(a_job(R"("conditions":[{"type":"Complete","status":"True"}])"));
  show(a_set());
  sync();
  EXPECT_EQ(asked(), Texts{"patch jobsets/js/status"});
  EXPECT_EQ(events_, Texts{});
  refuse(0, Reason::Conflict);
  asked();
  EXPECT_EQ(events_, Texts{});
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked(), Texts{"patch jobsets/js/status"});
  answer(1, a_set());
  asked();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_TRUE(events_[0].starts_with("AllJobsCompleted ")) << events_[0];
}

TEST_F(JobSetCallsTest, SetsOfOtherManagersAreLeftAlone) {
  show(a_set(kQuiet + R"(,"managedBy":"example.com/other")"));
  sync();
  EXPECT_EQ(asked(), Texts{});
}

// What Jobs report is collected for a moment; what they are is not.
TEST_F(JobSetCallsTest, ReportsOfJobsAreLookedAtTogether) {
  show(a_job());
  show(a_set());
  sync();
  EXPECT_EQ(asked(), Texts{"patch jobsets/js/status"});
  refuse(0, Reason::NotFound);
  show(a_job(R"("ready":1,"active":1)"));
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::milliseconds{200};
  EXPECT_EQ(asked(), Texts{"patch jobsets/js/status"});
  refuse(1, Reason::NotFound);
  show(a_job(R"("active":1)", 2));
  EXPECT_EQ(asked(), Texts{"patch jobsets/js/status"});
  refuse(2, Reason::NotFound);
  show(a_job(), Type::Deleted);
  EXPECT_EQ(asked().front(), "create jobs");
}

TEST(SharedClaims, GoWithTheirSetUnlessTheyAreRetained) {
  const auto set = api::Object::make(
      job_set_kind(), parsed(R"({"metadata":{"name":"js","namespace":"ns","uid":"ujs"},"spec":{
      "volumeClaimPolicies":[{"templates":[{"metadata":{"name":"a","labels":{"x":"y"},
      "annotations":{"n":"o"}},"spec":{"volumeName":"v"}}]},{"retentionPolicy":{
      "whenDeleted":"Retain"},"templates":[{"metadata":{"name":"b"},"spec":{}}]}]}})"));
  const auto claims = shared_claims(*set, set->document());
  ASSERT_EQ(claims.size(), 2U);
  EXPECT_EQ(claims[0].volume, "a");
  EXPECT_EQ(claims[0].name, "a-js");
  const api::Json& first = *api::find_path(claims[0].create.body, "metadata");
  EXPECT_EQ(api::to_text(*api::find(first, "labels")),
            fmt::format(R"({{"x":"y","{}":"js"}})", job_set::kSetName));
  EXPECT_EQ(api::to_text(*api::find(first, "annotations")), R"({"n":"o"})");
  EXPECT_EQ(api::elements(first, "ownerReferences").size(), 1U);
  EXPECT_EQ(api::find_string(*api::find_path(claims[0].create.body, "spec"), "volumeName"), "v");
  const api::Json& second = *api::find_path(claims[1].create.body, "metadata");
  EXPECT_EQ(api::elements(second, "ownerReferences").size(), 0U);
  EXPECT_EQ(api::find(second, "annotations"), nullptr);
}

}  // namespace
}  // namespace muster::controllers
