#include "sim/job_sets_testing.h"

// JobSets from create to their end, on the whole control plane.
namespace muster::sim {
namespace {

using std::chrono::seconds;

class JobSets : public JobSetWorld {};

TEST_F(JobSets, RunsItsJobsToTheirEnd) {
  create({{.name = "driver", .run_time = "5s"},
          {.name = "workers", .replicas = 2, .pods = 2, .run_time = "5s"}});
  world_.advance(seconds{3});
  EXPECT_EQ(names(job_kind()), (Texts{"js-driver-0", "js-workers-0", "js-workers-1"}));
  EXPECT_EQ(running(), 5U);
  EXPECT_EQ(status("replicatedJobsStatus"),
            R"([{"name":"driver","ready":1,"succeeded":0,"failed":0,"active":1,"suspended":0},)"
            R"({"name":"workers","ready":2,"succeeded":0,"failed":0,"active":2,"suspended":0}])");
  const api::ObjectPtr service = world_.get(*api::find_kind("", "Service"), "default", "js");
  ASSERT_NE(service, nullptr) << "pods find each other by name";
  const api::Json pod = all(api::kinds::pod())[0]->document();
  EXPECT_EQ(api::find_string(*api::find(pod, "spec"), "hostname"), "js-driver-0-0");
  EXPECT_EQ(api::find_string(*api::find(pod, "spec"), "subdomain"), "js");
  world_.advance(seconds{20});
  EXPECT_EQ(conditions(), Texts{"Completed/AllJobsCompleted"});
  EXPECT_EQ(status("terminalState"), "Completed");
  EXPECT_EQ(events(), Texts{"AllJobsCompleted"});
}

TEST_F(JobSets, StartsAgainAfterAFailureAndFailsIfThatIsTooOften) {
  create({{.name = "a", .run_time = "2s", .annotations = R"("muster.dev/exit-code":"1")"},
          {.name = "b", .pods = 2}},
         R"("failurePolicy":{"maxRestarts":1})");
  world_.advance(seconds{6});
  EXPECT_EQ(status("restarts"), "1");
  world_.advance(seconds{40});
  EXPECT_EQ(conditions(), Texts{"Failed/ReachedMaxRestarts"});
  EXPECT_EQ(status("restartsCountTowardsMax"), "1");
  EXPECT_EQ(running(), 0U) << "what still ran was stopped";
  EXPECT_EQ(names(job_kind()), Texts{"js-a-0"}) << "the one that failed stays to be looked at";
  EXPECT_EQ(events(), (Texts{"Restarting", "ReachedMaxRestarts"}));
}

TEST_F(JobSets, OneJobCanStartAgainAlone) {
  create({{.name = "a", .run_time = "2s", .annotations = R"("muster.dev/exit-code":"1")"},
          {.name = "b"}},
         R"("failurePolicy":{"maxRestarts":2,"rules":[{"name":"one","action":"RestartJob"}]})");
  world_.advance(seconds{4});
  const std::string other = world_.get(job_kind(), "default", "js-b-0")->meta().uid;
  world_.advance(seconds{60});
  EXPECT_EQ(conditions(), Texts{"Failed/ReachedMaxRestarts"});
  EXPECT_EQ(status("restarts"), "0");
  EXPECT_NE(status("replicatedJobsStatus").find(R"("jobRestarts":[2])"), std::string::npos);
  EXPECT_EQ(events(), (Texts{"RestartingJob", "ReachedMaxRestarts"}));
  EXPECT_EQ(world_.get(job_kind(), "default", "js-b-0"), nullptr) << "stopped with the set";
  EXPECT_FALSE(other.empty());
}

// What a failed Job does to its set, by the action of the rule that matches it. No restart counts
// as allowed here, so only those that do not count go on.
TEST_F(JobSets, TheRuleOfAFailureDecides) {
  struct Case {
    std::string_view rule;
    Texts conditions;
    bool set_restarts, job_restarts;
  };
  const Case cases[] = {
      {R"("action":"FailJobSet")", {"Failed/FailJobSetFailurePolicyAction"}, false, false},
      {R"("action":"FailJobSet","targetReplicatedJobs":["b"])",
       {"Failed/ReachedMaxRestarts"},
       false,
       false},
      {R"("action":"FailJobSet","onJobFailureReasons":["DeadlineExceeded"])",
       {"Failed/ReachedMaxRestarts"},
       false,
       false},
      {R"("action":"FailJobSet","onJobFailureReasons":["BackoffLimitExceeded"],
          "onJobFailureMessagePatterns":["^Job has reached .* backoff limit$"])",
       {"Failed/FailJobSetFailurePolicyAction"},
       false,
       false},
      {R"("action":"RestartJobSet")", {"Failed/ReachedMaxRestarts"}, false, false},
      {R"("action":"RestartJob")", {"Failed/ReachedMaxRestarts"}, false, false},
      {R"("action":"RestartJobSetAndIgnoreMaxRestarts")", {}, true, false},
      {R"("action":"RestartJobAndIgnoreMaxRestarts")", {}, false, true},
  };
  for (const Case& test : cases) {
    create({{.name = "a", .run_time = "2s", .annotations = R"("muster.dev/exit-code":"1")"},
            {.name = "b"}},
           fmt::format(R"("failurePolicy":{{"maxRestarts":0,"rules":[{{"name":"one",{}}}]}})",
                       test.rule));
    world_.advance(seconds{30});
    Texts ends = conditions();
    std::erase_if(ends, [](const std::string& each) { return !each.starts_with("Failed"); });
    EXPECT_EQ(ends, test.conditions) << test.rule;
    EXPECT_EQ(status("restarts") != "0", test.set_restarts) << test.rule;
    EXPECT_EQ(status("replicatedJobsStatus").find("jobRestarts") != std::string::npos,
              test.job_restarts)
        << test.rule;
    EXPECT_EQ(status("restartsCountTowardsMax"), "") << test.rule;
    remove(*world_.get(job_set_kind(), "default", "js"), "Background");
    world_.advance(seconds{90});
    ASSERT_TRUE(all(api::kinds::pod()).empty()) << test.rule;
  }
}

TEST_F(JobSets, ClaimsAreSharedByJobsAndGoOrStay) {
  ASSERT_TRUE(world_.ask(client::create_request(
      *api::find_kind("storage.k8s.io", "StorageClass"), "",
      parsed(R"({"metadata":{"name":"fast"},"provisioner":"csi.example.com"})"))));
  const auto claim = [](std::string_view name) {
    return fmt::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"storageClassName":"fast","accessModes":["ReadWriteMany"],
           "resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
        name);
  };
  const std::string policies = fmt::format(
      R"("volumeClaimPolicies":[{{"templates":[{}]}},{{"templates":[{}],"retentionPolicy":{{"whenDeleted":"Retain"}}}}])",
      claim("scratch"), claim("models"));
  const Replicated workers{
      .name = "a",
      .replicas = 2,
      .more_pod = R"("initContainers":[{"name":"load","image":"app:1","volumeMounts":[
                     {"name":"models","mountPath":"/m"},{"name":"scratch","mountPath":"/s"}]}])"};
  const api::Kind& kind = *api::find_kind("", "PersistentVolumeClaim");
  for (int round = 0; round < 2; ++round) {
    create({workers}, policies);
    world_.advance(seconds{10});
    EXPECT_EQ(names(kind), (Texts{"models-js", "scratch-js"}));
    EXPECT_EQ(running(), 2U);
    remove(*world_.get(job_set_kind(), "default", "js"), "Background");
    world_.advance(seconds{90});
    EXPECT_EQ(names(kind), Texts{"models-js"});
  }
}

TEST_F(JobSets, StartsInOrderAndAfterItsDependencies) {
  create({{.name = "first", .run_time = "4s"},
          {.name = "second", .more = R"("dependsOn":[{"name":"first","status":"Complete"}])"}});
  world_.advance(seconds{3});
  EXPECT_EQ(names(job_kind()), Texts{"js-first-0"});
  world_.advance(seconds{8});
  EXPECT_EQ(names(job_kind()), (Texts{"js-first-0", "js-second-0"}));
}

TEST_F(JobSets, RestsAndResumesWithWhatHasChanged) {
  create({{.name = "a", .replicas = 2, .pods = 2}}, R"("suspend":true)");
  world_.advance(seconds{2});
  EXPECT_EQ(conditions(), Texts{"Suspended/SuspendedJobs"});
  EXPECT_EQ(names(job_kind()).size(), 2U);
  EXPECT_EQ(running(), 0U);
  api::Json spec = *api::find(set(), "spec");
  api::JsonObject& pod = spec.as_object()["replicatedJobs"]
                             .as_array()[0]
                             .as_object()["template"]
                             .as_object()["spec"]
                             .as_object()["template"]
                             .as_object()["spec"]
                             .as_object();
  pod["nodeSelector"] = api::JsonObject{{"kubernetes.io/os", "linux"}};
  patch(fmt::format(R"({{"spec":{{"suspend":false,"replicatedJobs":{}}}}})",
                    api::to_text(spec.as_object()["replicatedJobs"])));
  world_.advance(seconds{5});
  EXPECT_EQ(conditions(), Texts{});
  const api::Json job = world_.get(job_kind(), "default", "js-a-0")->document();
  EXPECT_EQ(api::to_text(*api::find_path(job, "spec.template.spec.nodeSelector")),
            R"({"kubernetes.io/os":"linux"})");
  patch(R"({"spec":{"suspend":true}})");
  world_.advance(seconds{5});
  EXPECT_EQ(conditions(), Texts{"Suspended/SuspendedJobs"});
  EXPECT_EQ(all(api::kinds::pod()).size(), 0U);
  EXPECT_EQ(events(), (Texts{"SuspendedJobs", "ResumeJobs"}));
}

TEST_F(JobSets, GoesWhenItsTimeIsOver) {
  create({{.name = "a", .run_time = "1s"}}, R"("ttlSecondsAfterFinished":10)");
  world_.advance(seconds{8});
  EXPECT_EQ(conditions(), Texts{"Completed/AllJobsCompleted"});
  world_.advance(seconds{20});
  EXPECT_TRUE(set().is_null());
  EXPECT_TRUE(all(job_kind()).empty());
  EXPECT_EQ(world_.get(*api::find_kind("", "Service"), "default", "js"), nullptr);
}

TEST_F(JobSets, LeavesSetsOfOthersAlone) {
  create({{.name = "a"}}, R"("managedBy":"acme.io/jobsets")");
  world_.advance(seconds{5});
  EXPECT_TRUE(all(job_kind()).empty());
}

}  // namespace
}  // namespace muster::sim
