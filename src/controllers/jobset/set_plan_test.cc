#include "controllers/jobset/set_plan.h"

#include <gtest/gtest.h>

#include "controllers/jobset/job_set_testing.h"
#include "controllers/jobset/startup.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

constexpr std::string_view kTwo =
    R"("replicatedJobs":[{"name":"a","replicas":1,"template":{}},{"name":"b","replicas":2,"template":{}}])";

// A set and its Jobs, and what is planned for them, in words.
class SetPlanTest : public ::testing::Test {
 protected:
  // `more`: further members of the spec.
  void plan(std::string_view more, const std::vector<JobText>& jobs, std::string_view status = "",
            std::string_view entries = kTwo) {
    plan_.reset();
    set_ = make_set(fmt::format("{}{}{}", entries, more.empty() ? "" : ",", more), status);
    std::vector<api::ObjectPtr> owned;
    for (const JobText& job : jobs) owned.push_back(make_job(job));
    const auto& view = set_->view<api::JobSetView>();
    state_.emplace(SetState{.set = view,
                            .name = "js",
                            .jobs = sort_jobs(view, owned),
                            .now = now_,
                            .has_service = true,
                            .groups_are_ready = groups_are_ready_});
    plan_.emplace(plan_set(*state_));
  }
  // "create a-0", "remove js-b-1", …
  Texts actions() const {
    Texts out;
    const auto& jobs = state_->set.jobs;
    for (const ChildJob* job : plan_->remove) out.push_back("remove " + job->name());
    for (const ChildJob* job : plan_->suspend) out.push_back("suspend " + job->name());
    for (const ChildJob* job : plan_->resume) out.push_back("resume " + job->name());
    for (const ChildJob* job : plan_->resize) out.push_back("resize " + job->name());
    for (const SetPlan::NewJob& job : plan_->create)
      out.push_back(fmt::format("create {}-{}", jobs[job.entry].name, job.index));
    if (plan_->expired) out.emplace_back("expired");
    return out;
  }
  // "Failed=True/FailedJobs: message", of all conditions.
  Texts conditions() const {
    Texts out;
    for (const api::JobCondition& each : plan_->status.status().conditions)
      out.push_back(fmt::format("{}={}/{}: {}", each.type, each.status, each.reason, each.message));
    return out;
  }
  Texts notes() const {
    Texts out;
    for (const SetNote& note : plan_->status.notes()) out.push_back(note.type + " " + note.reason);
    return out;
  }

  Time now_ = kNow;
  bool groups_are_ready_ = true;
  api::ObjectPtr set_;
  std::optional<SetState> state_;
  std::optional<SetPlan> plan_;
};

TEST_F(SetPlanTest, MakesEveryJobThatIsMissing) {
  plan("", {});
  EXPECT_EQ(actions(), (Texts{"create a-0", "create b-0", "create b-1"}));
  plan("", {{.entry = "b", .index = 0}});
  EXPECT_EQ(actions(), (Texts{"create a-0", "create b-1"}));
  groups_are_ready_ = false;
  plan("", {});
  EXPECT_EQ(actions(), Texts{}) << "groups come before Jobs";
}

TEST_F(SetPlanTest, CountsJobs) {
  plan("", {{.entry = "a", .ready = 1},
            {.entry = "b", .index = 0, .end = "Complete"},
            {.entry = "b", .index = 1, .active = 1}});
  const auto& counts = plan_->status.status().jobs;
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0], (api::JobSetView::JobStatus{.name = "a", .ready = 1, .active = 1}));
  EXPECT_EQ(counts[1], (api::JobSetView::JobStatus{.name = "b", .succeeded = 1, .active = 1}));
  EXPECT_TRUE(plan_->status.changed());
}

TEST_F(SetPlanTest, AJobIsReadyWithAsManyPodsAsItCompletes) {
  const std::string spec = R"("parallelism":4,"completions":2,"completionMode":"Indexed")";
  plan("", {{.entry = "a", .ready = 1, .spec = spec}});
  EXPECT_EQ(plan_->status.status().jobs[0].ready, 0);
  plan("", {{.entry = "a", .ready = 2, .spec = spec}});
  EXPECT_EQ(plan_->status.status().jobs[0].ready, 1);
}

TEST_F(SetPlanTest, CompletesWhenEnoughHaveSucceeded) {
  const std::vector<JobText> two{{.entry = "b", .index = 0, .end = "Complete"},
                                 {.entry = "b", .index = 1, .end = "Complete"}};
  plan("", two);
  EXPECT_EQ(conditions(), Texts{}) << "a has not";
  plan(R"("successPolicy":{"operator":"All","targetReplicatedJobs":["b"]})", two);
  EXPECT_EQ(conditions(), Texts{"Completed=True/AllJobsCompleted: jobset completed successfully"});
  EXPECT_EQ(plan_->status.status().terminal_state, "Completed");
  EXPECT_EQ(notes(), Texts{"Normal AllJobsCompleted"});
  EXPECT_EQ(actions(), Texts{}) << "first it is stored";
  plan(R"("successPolicy":{"operator":"Any"})", {two[0]});
  EXPECT_EQ(conditions().size(), 1U);
  plan(R"("successPolicy":{"operator":"Any","targetReplicatedJobs":["a"]})", {two[0]});
  EXPECT_EQ(conditions().size(), 0U);
}

TEST_F(SetPlanTest, AnEndedSetStopsItsJobsAndGoesWhenItsTimeIsOver) {
  constexpr std::string_view kDone =
      R"("conditions":[{"type":"Completed","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}])";
  plan(R"("ttlSecondsAfterFinished":10)", {{.entry = "a"}}, kDone);
  EXPECT_EQ(actions(), Texts{"remove js-a-0"});
  EXPECT_EQ(plan_->again, kNow + seconds{10});
  now_ += seconds{10};
  plan(R"("ttlSecondsAfterFinished":10)", {}, kDone);
  EXPECT_EQ(actions(), Texts{"expired"});
  plan("", {}, kDone);
  EXPECT_EQ(actions(), Texts{});
}

TEST_F(SetPlanTest, AFailedSetStopsJobsOfEveryAttemptAndGoesToo) {
  constexpr std::string_view kFailed =
      R"("restarts":1,"conditions":[{"type":"Failed","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}])";
  constexpr std::string_view kTtl = R"("ttlSecondsAfterFinished":10)";
  plan(kTtl, {{.entry = "a", .attempt = 1}, {.entry = "b"}}, kFailed);
  EXPECT_EQ(actions(), (Texts{"remove js-a-0", "remove js-b-0"}));
  EXPECT_EQ(plan_->again, kNow + seconds{10});
  now_ += seconds{10};
  plan(kTtl, {}, kFailed);
  EXPECT_EQ(actions(), Texts{"expired"});
}

TEST_F(SetPlanTest, WithoutAPolicyTheFirstFailureEndsTheSet) {
  plan("", {{.entry = "b", .index = 0, .end = "Failed", .ended = "2026-01-01T00:00:05Z"},
            {.entry = "b", .index = 1, .end = "Failed", .ended = "2026-01-01T00:00:01Z"}});
  EXPECT_EQ(conditions(), Texts{"Failed=True/FailedJobs: jobset failed due to one or more job "
                                "failures (first failed job: js-b-1)"});
  EXPECT_EQ(notes(), Texts{"Warning FailedJobs"});
}

TEST_F(SetPlanTest, RestartsAsOftenAsItMay) {
  const JobText failed{.entry = "a", .end = "Failed"};
  plan(R"("failurePolicy":{"maxRestarts":1})", {failed, {.entry = "b"}});
  EXPECT_EQ(plan_->status.status().restarts, 1);
  EXPECT_EQ(plan_->status.status().counted_restarts, 1);
  EXPECT_EQ(conditions(),
            Texts{"RestartingJobSet=True/DefaultFailurePolicy: applying RestartJobSet failure "
                  "policy action (first failed job: js-a-0)"});
  EXPECT_EQ(actions(), Texts{}) << "first it is stored";

  constexpr std::string_view kOnce =
      R"("restarts":1,"restartsCountTowardsMax":1,"conditions":[{"type":"RestartingJobSet","status":"True"}])";
  plan(R"("failurePolicy":{"maxRestarts":1})", {failed, {.entry = "b"}}, kOnce);
  EXPECT_EQ(actions(), (Texts{"remove js-a-0", "remove js-b-0", "create b-1"}))
      << "each again as soon as its old one is gone";
  constexpr std::string_view kBlocking =
      R"("failurePolicy":{"maxRestarts":1,"restartStrategy":"BlockingRecreate"})";
  plan(kBlocking, {failed, {.entry = "b", .deleted = true}}, kOnce);
  EXPECT_EQ(actions(), Texts{"remove js-a-0"}) << "all old ones first";
  plan(kBlocking, {{.entry = "b", .deleted = true}}, kOnce);
  EXPECT_EQ(actions(), Texts{}) << "also those that are going already";

  plan(R"("failurePolicy":{"maxRestarts":1})",
       {{.entry = "a", .attempt = 1, .end = "Failed"}, {.entry = "b", .attempt = 1}}, kOnce);
  EXPECT_EQ(conditions().back(),
            "Failed=True/ReachedMaxRestarts: jobset failed due to reaching max number of restarts "
            "(first failed job: js-a-0)");
  EXPECT_EQ(conditions().front().substr(0, 35), "RestartingJobSet=False/JobSetFailed");
  EXPECT_EQ(plan_->status.status().terminal_state, "Failed");

  plan(R"("failurePolicy":{"maxRestarts":1})",
       {{.entry = "a", .attempt = 1, .ready = 1},
        {.entry = "b", .index = 0, .attempt = 1, .ready = 1},
        {.entry = "b", .index = 1, .attempt = 1, .ready = 1}},
       kOnce);
  EXPECT_EQ(conditions(),
            Texts{"RestartingJobSet=False/JobsReady: all jobs of this attempt are ready"});
}

TEST_F(SetPlanTest, TheFirstRuleThatMatchesDecides) {
  constexpr std::string_view kRules = R"("failurePolicy":{"maxRestarts":0,"rules":[
      {"name":"b","action":"FailJobSet","targetReplicatedJobs":["b"]},
      {"name":"late","action":"RestartJobSetAndIgnoreMaxRestarts","onJobFailureReasons":["DeadlineExceeded"]},
      {"name":"pod","action":"RestartJobAndIgnoreMaxRestarts","onJobFailureMessagePatterns":["exit code (42|43)\\b"]}]})";
  plan(kRules, {{.entry = "a", .end = "Failed"}, {.entry = "b", .end = "Failed"}});
  EXPECT_EQ(conditions(), Texts{"Failed=True/FailJobSetFailurePolicyAction: jobset failed due to "
                                "FailJobSet failure policy action (first failed job: js-b-0)"});
  plan(kRules, {{.entry = "a", .end = "Failed", .reason = "DeadlineExceeded"}});
  EXPECT_EQ(plan_->status.status().restarts, 1);
  EXPECT_EQ(plan_->status.status().counted_restarts, 0);
  EXPECT_EQ(conditions()[0].substr(0, 40), "RestartingJobSet=True/FailurePolicy_late");
  plan(kRules, {{.entry = "a", .end = "Failed", .message = "ended with exit code 43"}});
  EXPECT_EQ(plan_->status.status().restarts, 0);
  EXPECT_EQ(plan_->status.status().jobs[0].restarts, std::vector<std::int32_t>{1});
  plan(kRules, {{.entry = "a", .end = "Failed", .message = "exit code 431"}});
  EXPECT_EQ(conditions()[0].substr(0, 30), "Failed=True/ReachedMaxRestarts") << "no rule";
}

TEST_F(SetPlanTest, ASingleJobIsStartedAgain) {
  constexpr std::string_view kOne = R"("failurePolicy":{"maxRestarts":3,"rules":[
      {"name":"one","action":"RestartJob"}]})";
  constexpr std::string_view kSecond =
      R"("replicatedJobsStatus":[{"name":"b","jobRestarts":[0,1],"jobRestartsCountTowardsMax":[0,1]}])";
  plan(kOne, {{.entry = "a"}, {.entry = "b", .index = 1, .end = "Failed"}});
  EXPECT_EQ(plan_->status.status().jobs[1].restarts, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(plan_->status.status().jobs[1].counted_restarts, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(conditions(), Texts{});
  plan(kOne, {{.entry = "a"}, {.entry = "b"}, {.entry = "b", .index = 1, .end = "Failed"}},
       kSecond);
  EXPECT_EQ(actions(), Texts{"remove js-b-1"});
  plan(kOne, {{.entry = "a"}, {.entry = "b"}}, kSecond);
  EXPECT_EQ(actions(), Texts{"create b-1"});
  plan(kOne, {{.entry = "a"}, {.entry = "b"}, {.entry = "b", .index = 1, .job_attempt = 1}},
       kSecond);
  EXPECT_EQ(actions(), Texts{});
}

TEST_F(SetPlanTest, StartsInOrder) {
  constexpr std::string_view kInOrder = R"("startupPolicy":{"startupPolicyOrder":"InOrder"})";
  plan(kInOrder, {});
  EXPECT_EQ(actions(), Texts{"create a-0"});
  EXPECT_EQ(conditions(),
            Texts{"StartupPolicyInProgress=True/InOrderStartupPolicyInProgress: in order startup "
                  "policy is in progress"});
  plan(kInOrder, {{.entry = "a"}});
  EXPECT_EQ(actions(), Texts{});
  plan(kInOrder, {{.entry = "a", .ready = 1}});
  EXPECT_EQ(actions(), (Texts{"create b-0", "create b-1"}));
  plan(kInOrder, {{.entry = "a", .end = "Complete"}});
  EXPECT_EQ(actions(), (Texts{"create b-0", "create b-1"})) << "it was so quick that it has ended";
  plan(kInOrder,
       {{.entry = "a", .ready = 1},
        {.entry = "b", .ready = 1},
        {.entry = "b", .index = 1, .ready = 1}},
       R"("conditions":[{"type":"StartupPolicyInProgress","status":"True"}])");
  EXPECT_EQ(conditions(),
            (Texts{"StartupPolicyInProgress=False/InOrderStartupPolicyCompleted: in order startup "
                   "policy has completed",
                   "StartupPolicyCompleted=True/InOrderStartupPolicyCompleted: in order startup "
                   "policy has completed"}));
  plan(std::string(kInOrder) + R"(,"suspend":true)", {});
  EXPECT_EQ(actions(), (Texts{"create a-0", "create b-0", "create b-1"}))
      << "they rest: nothing starts";
}

TEST(HasStarted, OnceEachJobIsReadyOrHasEnded) {
  const api::ObjectPtr set =
      make_set(R"("replicatedJobs":[{"name":"a","replicas":3,"template":{}}])");
  JobCounts counts(1);
  counts[0].ready = 1;
  counts[0].succeeded = 1;
  EXPECT_FALSE(has_started(set->view<api::JobSetView>(), counts, 0));
  counts[0].failed = 1;
  EXPECT_TRUE(has_started(set->view<api::JobSetView>(), counts, 0));
}

TEST_F(SetPlanTest, DependenciesComeFirst) {
  constexpr std::string_view kReady =
      R"("replicatedJobs":[{"name":"a","template":{}},{"name":"b","template":{},"dependsOn":[{"name":"a","status":"Ready"}]}])";
  constexpr std::string_view kComplete =
      R"("replicatedJobs":[{"name":"a","template":{}},{"name":"b","template":{},"dependsOn":[{"name":"a","status":"Complete"}]}])";
  plan("", {}, "", kReady);
  EXPECT_EQ(actions(), Texts{"create a-0"});
  plan("", {{.entry = "a", .ready = 1}}, "", kReady);
  EXPECT_EQ(actions(), Texts{"create b-0"});
  plan("", {{.entry = "a", .ready = 1}}, "", kComplete);
  EXPECT_EQ(actions(), Texts{});
  plan("", {{.entry = "a", .end = "Complete"}}, "", kComplete);
  EXPECT_EQ(actions(), Texts{"create b-0"});
}

TEST_F(SetPlanTest, SuspendsAndResumes) {
  plan(R"("suspend":true)", {{.entry = "a"}, {.entry = "b", .suspend = true}});
  EXPECT_EQ(actions(), (Texts{"suspend js-a-0", "create b-1"}));
  EXPECT_EQ(conditions(), Texts{"Suspended=True/SuspendedJobs: jobset is suspended"});
  constexpr std::string_view kRests = R"("conditions":[{"type":"Suspended","status":"True"}])";
  const std::vector<JobText> resting{{.entry = "a", .suspend = true},
                                     {.entry = "b", .suspend = true},
                                     {.entry = "b", .index = 1, .suspend = true}};
  plan("", resting, kRests);
  EXPECT_EQ(actions(), (Texts{"resume js-a-0", "resume js-b-0", "resume js-b-1"}));
  EXPECT_EQ(conditions(), Texts{"Suspended=False/ResumeJobs: jobset is resumed"});
  plan(R"("startupPolicy":{"startupPolicyOrder":"InOrder"})", resting, kRests);
  EXPECT_EQ(actions(), Texts{"resume js-a-0"});
  groups_are_ready_ = false;
  plan("", resting, kRests);
  EXPECT_EQ(actions(), Texts{});
}

TEST_F(SetPlanTest, AConditionThatStillHoldsKeepsItsTime) {
  plan(
      R"("suspend":true)", {},
      R"("conditions":[{"type":"Suspended","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  ASSERT_EQ(conditions().size(), 1U);
  EXPECT_EQ(plan_->status.status().conditions[0].last_transition, kNow);
}

TEST_F(SetPlanTest, JobsFollowTheSizeOfTheirTemplate) {
  plan("", {{.entry = "a"}}, "",
       R"("replicatedJobs":[{"name":"a","template":{"spec":{"parallelism":3,"completions":3}}}])");
  EXPECT_EQ(actions(), Texts{"resize js-a-0"});
}

// Nobody asked for so many: a look stays short.
TEST_F(SetPlanTest, MakesManyJobsInSeveralLooks) {
  plan("", {}, "", R"("replicatedJobs":[{"name":"a","replicas":2000000000,"template":{}}])");
  EXPECT_EQ(actions().size(), kNewJobsMax);
}

TEST_F(SetPlanTest, ChangesManyJobsInSeveralLooks) {
  std::vector<JobText> jobs;
  for (int i = 0; i < 700; ++i) jobs.push_back({.entry = "a", .index = i});
  const std::string many = R"("replicatedJobs":[{"name":"a","replicas":700,"template":{}}])";
  plan(R"("suspend":true)", jobs, "", many);
  EXPECT_EQ(actions().size(), kJobChangesMax) << "suspended";
  plan("", jobs, R"("restarts":1)", many);
  EXPECT_EQ(actions().size(), kJobChangesMax) << "deleted";
  for (JobText& job : jobs) job.suspend = true;
  plan("", jobs, "", many);
  EXPECT_EQ(actions().size(), kJobChangesMax) << "resumed";
}

}  // namespace
}  // namespace muster::controllers
