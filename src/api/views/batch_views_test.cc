#include <gtest/gtest.h>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/cron_job_view.h"
#include "api/views/job_set_view.h"
#include "api/views/leader_worker_set_view.h"
#include "api/views/views_testing.h"

// What controllers read of kinds that make Jobs, or pods in groups.
namespace muster::api {
namespace {

using std::chrono::seconds;

TEST(CronJobView, OldSchedulesNameTheirZone) {
  struct Case {
    std::string_view spec;
    std::string_view schedule;
    std::string_view zone;
  };
  const Case cases[] = {
      {R"("schedule":"@daily")", "@daily", ""},
      {R"("schedule":"@daily","timeZone":"Etc/UTC")", "@daily", "Etc/UTC"},
      {R"("schedule":"TZ=Europe/Berlin  0 9 * * *")", "0 9 * * *", "Europe/Berlin"},
      {R"("schedule":"CRON_TZ=Europe/Berlin 0 9 * * *")", "0 9 * * *", "Europe/Berlin"},
      {R"("schedule":"TZ=Europe/Berlin 0 9 * * *","timeZone":"Etc/UTC")", "0 9 * * *", "Etc/UTC"},
      {R"("schedule":"TZ=Europe/Berlin")", "", "Europe/Berlin"},
      {R"("schedule":"TZ=Europe/Berlin ")", "", "Europe/Berlin"},
  };
  for (const Case& c : cases) {
    const auto view =
        view_of<CronJobView>("batch", "CronJob", R"("spec":{)" + std::string(c.spec) + "}");
    EXPECT_EQ(view->schedule, c.schedule) << c.spec;
    EXPECT_EQ(view->zone, c.zone) << c.spec;
  }
}

TEST(CronJobView, ReadsPoliciesAndStatus) {
  const auto view = view_of<CronJobView>("batch", "CronJob", R"("spec":{"schedule":"@daily",
      "startingDeadlineSeconds":60,"concurrencyPolicy":"Forbid","suspend":true,
      "successfulJobsHistoryLimit":7,"failedJobsHistoryLimit":5},
      "status":{"active":[{"name":"a","uid":"u"},{"name":"b"}],"lastScheduleTime":"2026-01-01T00:00:00Z",
      "lastSuccessfulTime":"2026-01-02T00:00:00Z"})");
  EXPECT_EQ(view->starting_deadline, seconds{60});
  EXPECT_EQ(view->concurrency, CronJobView::Concurrency::Forbid);
  EXPECT_TRUE(view->suspend);
  EXPECT_EQ(view->successful_kept, 7);
  EXPECT_EQ(view->failed_kept, 5);
  ASSERT_EQ(view->active.size(), 2U);
  EXPECT_EQ(view->active[0].name + view->active[0].uid, "au");
  EXPECT_EQ(view->last_schedule, parse_time("2026-01-01T00:00:00Z"));
  EXPECT_EQ(view->last_success, parse_time("2026-01-02T00:00:00Z"));

  const auto bare = view_of<CronJobView>("batch", "CronJob", R"("spec":{"schedule":"@daily"})");
  EXPECT_EQ(bare->starting_deadline, std::nullopt);
  EXPECT_EQ(bare->concurrency, CronJobView::Concurrency::Allow);
  EXPECT_FALSE(bare->suspend);
  EXPECT_EQ(bare->successful_kept, 3);
  EXPECT_EQ(bare->failed_kept, 1);
  const auto odd = view_of<CronJobView>(
      "batch", "CronJob",
      R"("spec":{"concurrencyPolicy":"Replace","startingDeadlineSeconds":99999999999})");
  EXPECT_EQ(odd->concurrency, CronJobView::Concurrency::Replace);
  EXPECT_EQ(odd->starting_deadline, seconds{100LL * 366 * 86'400}) << "a century will do";
}

TEST(LeaderWorkerSetView, ReadsPoliciesAndStatus) {
  const auto view = view_of<LeaderWorkerSetView>(
      "leaderworkerset.x-k8s.io", "LeaderWorkerSet",
      R"("spec":{"replicas":3,"startupPolicy":"LeaderReady","scheduling":{},
      "leaderWorkerTemplate":{"size":4,"restartPolicy":"RecreateGroupAfterStart"},
      "rolloutStrategy":{"rollingUpdateConfiguration":{"partition":1,"maxUnavailable":"50%","maxSurge":2}},
      "networkConfig":{"subdomainPolicy":"UniquePerReplica"}},
      "status":{"observedGeneration":1,"replicas":2,"readyReplicas":3,"updatedReplicas":4,"hpaPodSelector":"a=b",
      "conditions":[{"type":"Available","status":"True","observedGeneration":5}]})");
  EXPECT_EQ(view->replicas, 3);
  EXPECT_EQ(view->size, 4);
  EXPECT_EQ(view->restart, LeaderWorkerSetView::Restart::AfterStart);
  EXPECT_TRUE(view->waits_for_leader && view->own_subdomains && view->says_scheduling);
  EXPECT_EQ(view->partition, 1);
  EXPECT_EQ(view->unavailable_max.value, 50);
  EXPECT_EQ(view->surge_max.value, 2);
  EXPECT_EQ(view->status.observed_generation, 1);
  EXPECT_EQ(view->status.replicas, 2);
  EXPECT_EQ(view->status.ready, 3);
  EXPECT_EQ(view->status.updated, 4);
  EXPECT_EQ(view->status.selector, "a=b");
  ASSERT_EQ(view->status.conditions.size(), 1U);
  EXPECT_EQ(view->status.conditions[0].observed_generation, 5);
  const auto with = [](std::string_view policy) {
    return view_of<LeaderWorkerSetView>(
        "leaderworkerset.x-k8s.io", "LeaderWorkerSet",
        R"("spec":{"leaderWorkerTemplate":{"size":0,"restartPolicy":")" + std::string(policy) +
            R"("}})");
  };
  EXPECT_EQ(with("None")->restart, LeaderWorkerSetView::Restart::None);
  EXPECT_EQ(with("Default")->restart, LeaderWorkerSetView::Restart::None);
  EXPECT_EQ(with("RecreateGroupOnPodRestart")->restart, LeaderWorkerSetView::Restart::OnPodRestart);
  EXPECT_EQ(with("")->size, 1);
  EXPECT_EQ(with("")->replicas, 1);
  EXPECT_EQ(with("")->unavailable_max.value, 1);
  EXPECT_FALSE(with("")->waits_for_leader || with("")->own_subdomains || with("")->says_scheduling);
}

TEST(JobSetView, ReadsItsJobsAndPolicies) {
  const auto view =
      JobSetView::of(json(R"({"metadata":{"name":"x"},"spec":{"suspend":true,"managedBy":"m",
      "ttlSecondsAfterFinished":9,"startupPolicy":{"startupPolicyOrder":"InOrder"},
      "successPolicy":{"operator":"Any","targetReplicatedJobs":["a"]},
      "network":{"enableDNSHostnames":false,"publishNotReadyAddresses":false,"subdomain":"s"},
      "failurePolicy":{"maxRestarts":3,"restartStrategy":"BlockingRecreate","rules":[
        {"name":"r","action":"FailJobSet","onJobFailureReasons":["R"],"onJobFailureMessagePatterns":["p"],
         "targetReplicatedJobs":["a","b"]},{"name":"t","action":"RestartJobAndIgnoreMaxRestarts"}]},
      "replicatedJobs":[{"name":"a"},{"name":"b","groupName":"g","replicas":2,
        "dependsOn":[{"name":"a","status":"Complete"},{"name":"c","status":"Ready"}],
        "template":{"spec":{"parallelism":3,"completions":4,"scheduling":{}}}}]},
      "status":{"restarts":1,"restartsCountTowardsMax":2,"terminalState":"Failed",
      "conditions":[{"type":"Failed","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}],
      "replicatedJobsStatus":[{"name":"a","ready":1,"succeeded":2,"failed":3,"active":4,"suspended":5,
        "jobRestarts":[1,0],"jobRestartsCountTowardsMax":[2]}]}})"));
  EXPECT_TRUE(view->suspend && view->in_order && view->any_success && view->says_scheduling);
  EXPECT_EQ(view->managed_by, "m");
  EXPECT_EQ(view->ttl_s, 9);
  EXPECT_EQ(view->success_targets, std::vector<std::string>{"a"});
  EXPECT_FALSE(view->dns_hostnames || view->publish_not_ready);
  EXPECT_EQ(view->subdomain, "s");
  ASSERT_TRUE(view->failure_policy);
  EXPECT_EQ(view->failure_policy->max_restarts, 3);
  EXPECT_TRUE(view->failure_policy->blocking);
  ASSERT_EQ(view->failure_policy->rules.size(), 2U);
  const JobSetView::FailureRule& rule = view->failure_policy->rules[0];
  EXPECT_EQ(rule.action, JobSetView::Action::FailJobSet);
  EXPECT_EQ(rule.reasons, std::vector<std::string>{"R"});
  EXPECT_EQ(rule.message_patterns, std::vector<std::string>{"p"});
  EXPECT_EQ(rule.targets, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(action_name(view->failure_policy->rules[1].action), "RestartJobAndIgnoreMaxRestarts");
  const JobSetView::ReplicatedJob* a = view->job("a");
  EXPECT_EQ(a->group, "default");
  EXPECT_EQ(a->replicas, 1);
  EXPECT_EQ(a->parallelism, 1);
  EXPECT_EQ(a->completions, std::nullopt);
  const JobSetView::ReplicatedJob* b = view->job("b");
  EXPECT_EQ(b->group, "g");
  EXPECT_EQ(b->replicas, 2);
  EXPECT_EQ(b->parallelism, 3);
  EXPECT_EQ(b->completions, 4);
  ASSERT_EQ(b->depends_on.size(), 2U);
  EXPECT_TRUE(b->depends_on[0].complete);
  EXPECT_FALSE(b->depends_on[1].complete);
  EXPECT_EQ(view->job("c"), nullptr);
  EXPECT_EQ(view->status.restarts, 1);
  EXPECT_EQ(view->status.counted_restarts, 2);
  EXPECT_EQ(view->status.terminal_state, "Failed");
  EXPECT_TRUE(view->is_finished() && view->starts_in_turn());
  EXPECT_EQ(view->condition("Failed")->last_transition, parse_time("2026-01-01T00:00:00Z"));
  EXPECT_EQ(view->status.jobs, (std::vector<JobSetView::JobStatus>{{.name = "a",
                                                                    .ready = 1,
                                                                    .succeeded = 2,
                                                                    .failed = 3,
                                                                    .active = 4,
                                                                    .suspended = 5,
                                                                    .restarts = {1, 0},
                                                                    .counted_restarts = {2}}}));
}

TEST(JobSetView, AnEmptyOneHasTheDefaults) {
  const auto view = JobSetView::of(json(
      R"({"metadata":{"name":"x"},"spec":{"replicatedJobs":[{"name":"a"}],"failurePolicy":{}}})"));
  EXPECT_FALSE(view->suspend || view->in_order || view->any_success || view->says_scheduling);
  EXPECT_FALSE(view->is_finished() || view->starts_in_turn());
  EXPECT_TRUE(view->dns_hostnames && view->publish_not_ready);
  EXPECT_EQ(view->subdomain, "x");
  EXPECT_EQ(view->failure_policy->max_restarts, 0);
  EXPECT_FALSE(view->failure_policy->blocking);
  EXPECT_EQ(view->ttl_s, std::nullopt);
  const auto in_turn = JobSetView::of(json(
      R"({"spec":{"scheduling":{},"replicatedJobs":[{"name":"a"},{"name":"b","dependsOn":[{"name":"a"}]}]}})"));
  EXPECT_TRUE(in_turn->starts_in_turn() && in_turn->says_scheduling);
}

}  // namespace
}  // namespace muster::api
