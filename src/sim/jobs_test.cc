#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "api/views/workload_view.h"
#include "sim/faults_testing.h"

// Jobs from create to their end, on the whole control plane.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::seconds;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

class Jobs : public ::testing::Test {
 protected:
  Jobs() : world_(options()) { world_.run_until_idle(); }

  static World::Options options() {
    World::Options options;
    options.shape.pools.push_back({.racks_per_block = 2,
                                   .nodes_per_rack = 2,
                                   .resources = parse_resources("cpu=8,memory=16Gi").value()});
    return options;
  }

  // A Job named "j" with these members of its spec and annotations of its pods.
  void create(std::string_view spec, std::string_view annotations = "{}",
              std::string_view restart = "Never") {
    Json job = parsed(fmt::format(
        R"({{"metadata":{{"name":"j","namespace":"default"}},"spec":{{{}{}"template":{{
            "metadata":{{"annotations":{}}},"spec":{{"restartPolicy":"{}","containers":[
            {{"name":"main","image":"app:1","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}}})",
        spec, spec.empty() ? "" : ",", annotations, restart));
    const auto answer = world_.ask(client::create_request(job_kind(), "default", std::move(job)));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  void patch(std::string_view merge) {
    const auto answer = world_.ask(client::patch_request(job_kind(), "default", "j", "",
                                                         api::PatchType::Merge, parsed(merge)));
    ASSERT_TRUE(answer) << answer.error().message;
  }

  Json job() const {
    const api::ObjectPtr found = world_.get(job_kind(), "default", "j");
    return found == nullptr ? Json(nullptr) : found->document();
  }
  std::string status(std::string_view member) const {
    const Json document = job();
    const Json* found = api::find(api::part_of(document, "status"), member);
    if (found == nullptr) return "";
    return found->is_string() ? std::string(api::text_of(*found)) : api::to_text(*found);
  }
  // "Complete/CompletionsReached: message", of the conditions that are True, in order.
  std::vector<std::string> conditions() const {
    std::vector<std::string> out;
    const Json document = job();
    for (const Json& condition : api::elements(api::part_of(document, "status"), "conditions"))
      if (api::find_string(condition, "status") == "True")
        out.push_back(fmt::format("{}/{}: {}", api::find_string(condition, "type"),
                                  api::find_string(condition, "reason"),
                                  api::find_string(condition, "message")));
    return out;
  }
  std::vector<api::ObjectPtr> all(const api::Kind& kind) { return world_.list(kind, "default"); }
  std::vector<api::ObjectPtr> pods() { return all(api::kinds::pod()); }
  // Of the one group there is, and of its template.
  std::int32_t group_minimum() {
    const auto groups = all(api::kinds::pod_group());
    const auto workloads = all(api::kinds::workload());
    if (groups.size() != 1 || workloads.size() != 1) return -1;
    const std::int32_t minimum = groups[0]->view<api::GroupView>().minimum;
    return workloads[0]->view<api::WorkloadView>().templates[0].minimum == minimum ? minimum : -2;
  }
  std::vector<std::string> events() {
    std::vector<std::string> out;
    for (const api::ObjectPtr& event : all(api::kinds::event())) {
      const Json document = event->document();
      if (api::find_string(api::part_of(document, "involvedObject"), "kind") == "Job")
        out.emplace_back(api::find_string(document, "reason"));
    }
    return out;
  }

  World world_;
};

using Texts = std::vector<std::string>;

TEST_F(Jobs, ASimpleJobRunsToItsEnd) {
  create("");
  world_.advance(seconds{3});
  EXPECT_EQ(status("active"), "1");
  EXPECT_EQ(status("ready"), "1");
  EXPECT_EQ(status("startTime"), "2026-01-01T00:00:00Z");
  ASSERT_EQ(pods().size(), 1U);
  const api::ObjectMeta& meta = pods()[0]->meta();
  EXPECT_TRUE(meta.name.starts_with("j-") && meta.name.size() == 7) << meta.name;
  ASSERT_EQ(meta.owners.size(), 1U);
  EXPECT_TRUE(meta.owners[0].controller);
  EXPECT_EQ(meta.owners[0].kind, "Job");
  EXPECT_EQ(meta.finalizers, Texts{"batch.kubernetes.io/job-tracking"});

  world_.advance(seconds{20});
  EXPECT_EQ(
      conditions(),
      (Texts{"SuccessCriteriaMet/CompletionsReached: Reached expected number of succeeded pods",
             "Complete/CompletionsReached: Reached expected number of succeeded pods"}));
  EXPECT_EQ(status("succeeded"), "1");
  EXPECT_EQ(status("active"), "");
  EXPECT_EQ(status("ready"), "0");
  EXPECT_EQ(status("uncountedTerminatedPods"), "{}");
  EXPECT_FALSE(status("completionTime").empty());
  EXPECT_TRUE(pods()[0]->meta().finalizers.empty());
  EXPECT_EQ(events(),
            (Texts{"WorkloadCreated", "PodGroupCreated", "SuccessfulCreate", "Completed"}));
}

TEST_F(Jobs, RunsAsManyAtOnceAsItMayUntilEnoughSucceeded) {
  create(R"("parallelism":3,"completions":7)");
  world_.advance(seconds{5});
  EXPECT_EQ(status("active"), "3");
  world_.advance(seconds{60});
  EXPECT_EQ(status("succeeded"), "7");
  EXPECT_EQ(pods().size(), 7U);
  EXPECT_EQ(conditions().size(), 2U);
}

TEST_F(Jobs, FailsWhenPodsFailTooOften) {
  create(R"("backoffLimit":2)", R"({"muster.dev/run-time":"1s","muster.dev/exit-code":"3"})");
  world_.advance(seconds{5});
  EXPECT_EQ(status("failed"), "1");
  EXPECT_EQ(pods().size(), 1U) << "the next one waits ten seconds";
  world_.advance(seconds{10});
  EXPECT_EQ(pods().size(), 2U);
  world_.advance(seconds{60});
  EXPECT_EQ(status("failed"), "3");
  EXPECT_EQ(
      conditions(),
      (Texts{"FailureTarget/BackoffLimitExceeded: Job has reached the specified backoff limit",
             "Failed/BackoffLimitExceeded: Job has reached the specified backoff limit"}));
  EXPECT_EQ(status("completionTime"), "");
}

TEST_F(Jobs, FailsAtItsDeadlineAndStopsItsPods) {
  create(R"("parallelism":2,"completions":2,"activeDeadlineSeconds":5)",
         R"({"muster.dev/run-time":"forever"})");
  world_.advance(seconds{4});
  EXPECT_EQ(status("active"), "2");
  world_.advance(seconds{60});
  EXPECT_EQ(conditions().back(),
            "Failed/DeadlineExceeded: Job was active longer than specified deadline");
  EXPECT_EQ(status("failed"), "2");
  EXPECT_EQ(status("terminating"), "0");
  EXPECT_TRUE(pods().empty());
}

TEST_F(Jobs, ASuspendedJobHasNoPodsAndResumes) {
  create(R"("parallelism":2,"completions":2,"suspend":true)");
  world_.advance(seconds{2});
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(conditions(), Texts{"Suspended/JobSuspended: Job suspended"});
  EXPECT_EQ(status("startTime"), "");
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{3});
  EXPECT_EQ(status("active"), "2");
  EXPECT_TRUE(conditions().empty());
  patch(R"({"spec":{"suspend":true}})");
  world_.advance(seconds{3});
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(status("failed"), "") << "suspension is no failure";
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{30});
  EXPECT_EQ(status("succeeded"), "2");
}

TEST_F(Jobs, AnIndexedJobKnowsItsIndexes) {
  create(R"("parallelism":3,"completions":5,"completionMode":"Indexed")");
  world_.advance(seconds{3});
  std::vector<std::string> hosts;
  for (const api::ObjectPtr& pod : pods()) {
    const Json document = pod->document();
    hosts.emplace_back(api::find_string(api::part_of(document, "spec"), "hostname"));
    EXPECT_NE(
        api::to_text(document).find("metadata.labels['batch.kubernetes.io/job-completion-index']"),
        std::string::npos);
  }
  EXPECT_EQ(hosts, (Texts{"j-0", "j-1", "j-2"}));
  world_.advance(seconds{60});
  EXPECT_EQ(status("completedIndexes"), "0-4");
  EXPECT_EQ(status("succeeded"), "5");
  EXPECT_EQ(conditions().size(), 2U);
}

TEST_F(Jobs, EveryJobGetsItsWorkloadAndItsGroupBeforeItsPods) {
  create(R"("parallelism":2,"completions":2)");
  world_.advance(seconds{3});
  const auto workloads = all(api::kinds::workload());
  const auto groups = all(api::kinds::pod_group());
  ASSERT_EQ(workloads.size(), 1U);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(workloads[0]->meta().name.starts_with("j-"));
  EXPECT_TRUE(groups[0]->meta().name.starts_with(workloads[0]->meta().name + "-j-pgt-0-"));
  ASSERT_EQ(groups[0]->meta().owners.size(), 2U);
  EXPECT_TRUE(groups[0]->meta().owners[0].controller);
  EXPECT_EQ(groups[0]->meta().owners[1].kind, "Workload");
  for (const api::ObjectPtr& pod : pods()) {
    EXPECT_EQ(pod->view<api::PodView>().scheduling_group, groups[0]->meta().name);
    EXPECT_EQ(pod->view<api::PodView>().phase, "Running");
    ASSERT_EQ(pod->meta().owners.size(), 1U) << "the Job alone";
  }
  EXPECT_EQ(events(),
            (Texts{"WorkloadCreated", "PodGroupCreated", "SuccessfulCreate", "SuccessfulCreate"}));
  world_.advance(seconds{30});
  EXPECT_EQ(status("succeeded"), "2");
}

TEST_F(Jobs, AGangRunsWholeOrNotAtAll) {
  create(R"("parallelism":33,"completions":33,"scheduling":{"schedulingPolicy":{"gang":{}}})",
         R"({"muster.dev/run-time":"forever"})");
  world_.advance(seconds{5});
  EXPECT_EQ(status("active"), "33");
  EXPECT_EQ(status("ready"), "0") << "32 would fit";
  EXPECT_EQ(group_minimum(), 33);
  patch(R"({"spec":{"parallelism":32}})");
  world_.advance(seconds{15});
  EXPECT_EQ(group_minimum(), 32);
  EXPECT_EQ(status("ready"), "32");
}

TEST_F(Jobs, SuspensionTakesTheGroupAndResumingBringsItBack) {
  create(
      R"("parallelism":4,"completions":4,"suspend":true,"scheduling":{"schedulingPolicy":{"gang":{}}})");
  world_.advance(seconds{3});
  ASSERT_EQ(all(api::kinds::workload()).size(), 1U);
  const std::string workload = all(api::kinds::workload())[0]->meta().uid;
  EXPECT_TRUE(all(api::kinds::pod_group()).empty());
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{3});
  EXPECT_EQ(status("ready"), "4");
  ASSERT_EQ(all(api::kinds::pod_group()).size(), 1U);
  const std::string group = all(api::kinds::pod_group())[0]->meta().uid;
  patch(R"({"spec":{"suspend":true}})");
  world_.advance(seconds{10});
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(all(api::kinds::pod_group()).empty());
  EXPECT_EQ(conditions(), Texts{"Suspended/JobSuspended: Job suspended"});
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{5});
  EXPECT_EQ(status("ready"), "4");
  ASSERT_EQ(all(api::kinds::pod_group()).size(), 1U);
  EXPECT_NE(all(api::kinds::pod_group())[0]->meta().uid, group);
  EXPECT_EQ(all(api::kinds::workload())[0]->meta().uid, workload);
}

TEST_F(Jobs, ADelegatedJobWaitsForItsOwnersWorkloadAndSaysSo) {
  Json job = parsed(R"({"metadata":{"name":"j","namespace":"default",
      "annotations":{"scheduling.k8s.io/group-template-name":"workers"},
      "ownerReferences":[{"apiVersion":"acme.io/v1","kind":"Train","name":"t","uid":"ut","controller":true}]},
      "spec":{"parallelism":2,"completions":2,"template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"main","image":"app:1"}]}}}})");
  ASSERT_TRUE(world_.ask(client::create_request(job_kind(), "default", std::move(job))));
  world_.advance(seconds{3});
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(conditions(),
            Texts{"SchedulingBlocked/WorkloadNotFound: There is no Workload of Train t yet"});
  EXPECT_EQ(events(), Texts{"SchedulingDependencyNotFound"});
  ASSERT_TRUE(world_.ask(
      client::create_request(api::kinds::workload(), "default",
                             parsed(R"({"metadata":{"name":"w","namespace":"default"},"spec":{
        "controllerRef":{"apiGroup":"acme.io","kind":"Train","name":"t"},
        "podGroupTemplates":[{"name":"workers","schedulingPolicy":{"gang":{"minCount":2}}}]}})"))));
  world_.advance(seconds{3});
  EXPECT_EQ(status("ready"), "2");
  EXPECT_TRUE(conditions().empty());
  ASSERT_EQ(all(api::kinds::pod_group()).size(), 1U);
  EXPECT_EQ(all(api::kinds::pod_group())[0]->meta().owners.size(), 1U);
}

constexpr std::string_view kCritical =
    R"({{"metadata":{{"name":"j","namespace":"default"}},"spec":{{{}"template":{{"spec":{{"restartPolicy":"Never",
    "priorityClassName":"system-cluster-critical","containers":[{{"name":"main","image":"app:1"}}]}}}}}}}})";

TEST_F(Jobs, APriorityClassThatNoGroupCanHaveRunsUngrouped) {
  ASSERT_TRUE(world_.ask(
      client::create_request(job_kind(), "default", parsed(fmt::format(kCritical, "")))));
  world_.advance(seconds{3});
  EXPECT_EQ(status("ready"), "1");
  EXPECT_TRUE(all(api::kinds::workload()).empty());
  EXPECT_EQ(events(), (Texts{"RunsUngrouped", "SuccessfulCreate"}));
}

TEST_F(Jobs, AGroupThatTheServerRefusesBlocksTheJob) {
  ASSERT_TRUE(world_.ask(client::create_request(
      job_kind(), "default",
      parsed(fmt::format(kCritical, R"("scheduling":{"schedulingPolicy":{"gang":{}}},)")))));
  world_.advance(seconds{5});
  EXPECT_TRUE(pods().empty());
  ASSERT_EQ(conditions().size(), 1U);
  EXPECT_TRUE(conditions()[0].starts_with("SchedulingBlocked/FailedPodGroupCreate: PodGroup"))
      << conditions()[0];
  EXPECT_EQ(status("startTime"), "");
}

TEST_F(Jobs, PodsThatNameTheirGroupKeepIt) {
  Json job = parsed(R"({"metadata":{"name":"j","namespace":"default"},"spec":{"template":{"spec":{
      "restartPolicy":"Never","schedulingGroup":{"podGroupName":"mine"},
      "containers":[{"name":"main","image":"app:1"}]}}}})");
  ASSERT_TRUE(world_.ask(client::create_request(job_kind(), "default", std::move(job))));
  world_.advance(seconds{3});
  EXPECT_TRUE(all(api::kinds::workload()).empty());
  ASSERT_EQ(pods().size(), 1U);
  EXPECT_EQ(pods()[0]->view<api::PodView>().scheduling_group, "mine");
}

TEST_F(Jobs, DeletedInTheForegroundTakesItsPodsAlong) {
  create(R"("parallelism":2,"completions":2)", R"({"muster.dev/run-time":"forever"})");
  world_.advance(seconds{3});
  api::Request request =
      client::delete_request(*world_.get(job_kind(), "default", "j"), std::nullopt);
  request.remove.propagation_policy = "Foreground";
  ASSERT_TRUE(world_.ask(std::move(request)));
  world_.advance(seconds{60});
  EXPECT_TRUE(job().is_null());
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(all(api::kinds::pod_group()).empty());
  EXPECT_TRUE(all(api::kinds::workload()).empty());
}

TEST_F(Jobs, DeletedInTheBackgroundLeavesNothingBehind) {
  create(R"("parallelism":2,"completions":2)", R"({"muster.dev/run-time":"forever"})");
  world_.advance(seconds{3});
  api::Request request =
      client::delete_request(*world_.get(job_kind(), "default", "j"), std::nullopt);
  request.remove.propagation_policy = "Background";
  ASSERT_TRUE(world_.ask(std::move(request)));
  world_.advance(seconds{60});
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(all(api::kinds::pod_group()).empty());
  EXPECT_TRUE(all(api::kinds::workload()).empty());
}

}  // namespace
}  // namespace muster::sim
