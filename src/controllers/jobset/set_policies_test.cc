#include "controllers/jobset/set_policies.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "controllers/jobset/job_set_testing.h"

namespace muster::controllers {
namespace {

constexpr std::string_view kEntries =
    R"("replicatedJobs":[{"name":"a","template":{}},{"name":"b","replicas":2,"template":{}}])";

class SetPoliciesTest : public ::testing::Test {
 protected:
  void show(std::string_view more, const std::vector<JobText>& jobs, std::string_view status = "") {
    set_ = make_set(fmt::format("{},{}", kEntries, more), status);
    std::vector<api::ObjectPtr> owned;
    for (const JobText& job : jobs) owned.push_back(make_job(job));
    jobs_ = sort_jobs(view(), owned);
  }
  const api::JobSetView& view() const { return set_->view<api::JobSetView>(); }
  // "Fail Reason js-a-0" or "RestartSet counts Reason js-a-0".
  std::string failure() const {
    const auto verdict = judge_failures(view(), jobs_);
    if (!verdict) return "goes on";
    constexpr std::string_view kFirst = "(first failed job: ";
    EXPECT_TRUE(verdict->message.ends_with(fmt::format("{}{})", kFirst, verdict->job->name())))
        << verdict->message;
    const std::string_view what = verdict->what == SetVerdict::What::Fail         ? "Fail"
                                  : verdict->what == SetVerdict::What::RestartJob ? "RestartJob"
                                  : verdict->what == SetVerdict::What::RestartSet ? "RestartSet"
                                                                                  : "Complete";
    return fmt::format("{}{} {} {}", what,
                       verdict->counts && what.starts_with("Restart") ? " counts" : "",
                       verdict->reason, verdict->job->name());
  }

  api::ObjectPtr set_;
  ChildJobs jobs_;
};

const JobText kA{.entry = "a", .end = "Failed", .ended = "2026-01-01T00:00:05Z"};
const JobText kB{.entry = "b", .end = "Failed", .ended = "2026-01-01T00:00:01Z"};

TEST_F(SetPoliciesTest, WithoutAFailureTheSetGoesOn) {
  show(R"("failurePolicy":{"maxRestarts":0})", {{.entry = "a"}, {.entry = "b"}});
  EXPECT_EQ(failure(), "goes on");
}

TEST_F(SetPoliciesTest, TheFirstFailureIsNamedUnlessARuleIsAboutALaterOne) {
  show(R"("failurePolicy":{"maxRestarts":1})", {kA, kB});
  EXPECT_EQ(failure(), "RestartSet counts DefaultFailurePolicy js-b-0");
  show(R"("failurePolicy":{"maxRestarts":1,"rules":[
      {"name":"r","action":"RestartJobSet","targetReplicatedJobs":["a"]},
      {"name":"s","action":"FailJobSet"}]})",
       {kA, kB});
  EXPECT_EQ(failure(), "RestartSet counts FailurePolicy_r js-a-0");
  show(R"("failurePolicy":{"maxRestarts":1,"rules":[{"name":"s","action":"FailJobSet"}]})",
       {kA, kB});
  EXPECT_EQ(failure(), "Fail FailJobSetFailurePolicyAction js-b-0");
}

// Restarts of the set and of single Jobs count together, those that say so.
TEST_F(SetPoliciesTest, AllRestartsThatCountAreCounted) {
  constexpr std::string_view kThree =
      R"("restarts":9,"restartsCountTowardsMax":1,"replicatedJobsStatus":[
      {"name":"a","jobRestarts":[7],"jobRestartsCountTowardsMax":[1]},
      {"name":"b","jobRestarts":[0,5],"jobRestartsCountTowardsMax":[0,1]}])";
  const JobText failed{.entry = "a", .attempt = 9, .job_attempt = 7, .end = "Failed"};
  show(R"("failurePolicy":{"maxRestarts":4})", {failed}, kThree);
  EXPECT_EQ(failure(), "RestartSet counts DefaultFailurePolicy js-a-0");
  show(R"("failurePolicy":{"maxRestarts":3})", {failed}, kThree);
  EXPECT_EQ(failure(), "Fail ReachedMaxRestarts js-a-0");
}

TEST_F(SetPoliciesTest, EveryActionDoesWhatItsNameSaysBelowAndAtTheMaximum) {
  struct Case {
    std::string action, below, at;
  };
  for (const Case& each :
       {Case{"FailJobSet", "Fail FailJobSetFailurePolicyAction",
             "Fail FailJobSetFailurePolicyAction"},
        Case{"RestartJobSet", "RestartSet counts FailurePolicy_r", "Fail ReachedMaxRestarts"},
        Case{"RestartJob", "RestartJob counts FailurePolicy_r", "Fail ReachedMaxRestarts"},
        Case{"RestartJobSetAndIgnoreMaxRestarts", "RestartSet FailurePolicy_r",
             "RestartSet FailurePolicy_r"},
        Case{"RestartJobAndIgnoreMaxRestarts", "RestartJob FailurePolicy_r",
             "RestartJob FailurePolicy_r"}})
    for (const int most : {1, 0}) {
      show(fmt::format(
               R"("failurePolicy":{{"maxRestarts":{},"rules":[{{"name":"r","action":"{}"}}]}})",
               most, each.action),
           {kA});
      EXPECT_EQ(failure(), (most == 1 ? each.below : each.at) + " js-a-0") << each.action;
    }
}

TEST_F(SetPoliciesTest, ARuleMatchesIfAllThatItSaysDoesAndOneOfEachList) {
  struct Case {
    std::string rule;
    bool matches;
  };
  const JobText failed{
      .entry = "a", .end = "Failed", .reason = "DeadlineExceeded", .message = "code 7"};
  for (const Case& each :
       {Case{R"("onJobFailureReasons":["BackoffLimitExceeded","DeadlineExceeded"])", true},
        Case{R"("onJobFailureReasons":["BackoffLimitExceeded"])", false},
        Case{R"("targetReplicatedJobs":["b","a"])", true},
        Case{R"("targetReplicatedJobs":["b"])", false},
        Case{R"("onJobFailureMessagePatterns":["code 8","code [0-9]"])", true},
        Case{R"("onJobFailureMessagePatterns":["code 8"])", false},
        Case{R"("onJobFailureReasons":["DeadlineExceeded"],"targetReplicatedJobs":["b"])", false},
        Case{R"("targetReplicatedJobs":["a"],"onJobFailureMessagePatterns":["code 8"])", false}}) {
    show(fmt::format(R"("failurePolicy":{{"maxRestarts":1,"rules":[)"
                     R"({{"name":"r","action":"FailJobSet",{}}}]}})",
                     each.rule),
         {failed});
    EXPECT_EQ(failure(), each.matches ? "Fail FailJobSetFailurePolicyAction js-a-0"
                                      : "RestartSet counts DefaultFailurePolicy js-a-0")
        << each.rule;
  }
}

// What is searched of a message is bounded, as the message of a condition is.
TEST_F(SetPoliciesTest, TheEndOfAMessageThatIsTooLongIsNotSearched) {
  constexpr std::size_t kSearched = 32'768;
  for (const std::size_t before : {kSearched - 1, kSearched}) {
    show(R"("failurePolicy":{"maxRestarts":1,"rules":[
        {"name":"r","action":"FailJobSet","onJobFailureMessagePatterns":["x"]}]})",
         {{.entry = "a", .end = "Failed", .message = std::string(before, '.') + "x"}});
    EXPECT_EQ(failure(), before < kSearched ? "Fail FailJobSetFailurePolicyAction js-a-0"
                                            : "RestartSet counts DefaultFailurePolicy js-a-0");
  }
}

TEST_F(SetPoliciesTest, ASetOfWhichNothingSucceededIsNotComplete) {
  const JobText done{.entry = "b", .end = "Complete"};
  show(R"("successPolicy":{"operator":"All","targetReplicatedJobs":["none"]})", {done});
  EXPECT_FALSE(judge_successes(view(), jobs_)) << "nobody is waited for";
  show(R"("successPolicy":{"operator":"All","targetReplicatedJobs":["b"]})", {done});
  EXPECT_FALSE(judge_successes(view(), jobs_)) << "one of two";
  show(R"("successPolicy":{"operator":"Any","targetReplicatedJobs":["b"]})", {done});
  ASSERT_TRUE(judge_successes(view(), jobs_));
  EXPECT_EQ(judge_successes(view(), jobs_)->message, "jobset completed successfully");
}

}  // namespace
}  // namespace muster::controllers
