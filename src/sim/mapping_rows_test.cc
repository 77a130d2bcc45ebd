#include <algorithm>
#include <map>
#include <set>

#include "api/views/group_view.h"
#include "sim/job_sets_testing.h"
#include "sim/leader_worker_sets_testing.h"

// Which groups JobSets and LeaderWorkerSets become, row by row, on the whole control plane: each
// row's groups exist with the minimums it says, every pod is in one of them, and all pods run. The
// templates behind them, with all further members, are compared in workload/job_set_test.cc and
// workload/leader_worker_set_test.cc. The rules around the rows:
//
//   minimums at most the pods, one priority,       JobSetMapping.RefusesWithASentence,
//     one place to say it, order against gangs     JobSetMapping.OneWorkloadHasOnePriority
//   scheduling of JobSets changes at rest only     JobSetScheduling.ChangesOnlyWhileTheSetRests
//   suspended: nothing left; resumed: all again    JobSetTrees.RestingTakesTheGroups…
//   a restart has groups of its own                JobSetTrees.ALostNodeStartsItAgainElsewhere
//   elastic sizes change minimums                  JobSetTrees.SizesMayChangeWhileItRuns
//   what belongs to others is not taken            SetGroupsTest.WhatBelongsToOthersIsNotTaken
//   more than eight templates                      MappingRows.TooManyTemplatesAreRefused
//   LWS: LeaderReady, exclusive placement,         LwsScheduling.WhatContradictsItselfIsRefused,
//     minimums, priorities, updates                  .MinimumsAre…, .PodsHave…, .MayNotChange
//   LWS: incarnations, blocked and lost groups     LeaderWorkerSetRepair.*
//   LWS: a new size                                MappingRows.ANewSizeIsANewRevisionOfGroups
namespace muster::sim {
namespace {

using std::chrono::seconds;

class Rows : public Play {
 public:
  using Play::Play;
  // "PodGroup workers-job < workers: gang 2", sorted; "x2" behind those that are there twice.
  Texts groups() {
    std::map<std::string, std::string, std::less<>> templates;  // of composites, by name
    for (const api::ObjectPtr& group : all(api::kinds::composite_pod_group()))
      templates.emplace(group->meta().name, group->view<api::GroupView>().template_name);
    std::map<std::string, int> counted;
    for (const api::Kind* kind : {&api::kinds::composite_pod_group(), &api::kinds::pod_group()})
      for (const api::ObjectPtr& group : all(*kind)) {
        const auto& view = group->view<api::GroupView>();
        ++counted[fmt::format("{} {}{}: {}", kind == &api::kinds::pod_group() ? "pods" : "groups",
                              view.template_name,
                              view.parent.empty() ? "" : " < " + templates[view.parent],
                              view.gang ? fmt::format("gang {}", view.minimum) : "basic")];
      }
    Texts out;
    for (const auto& [text, count] : counted)
      out.push_back(count == 1 ? text : fmt::format("{} x{}", text, count));
    return out;
  }
  // How many pods run in a group that exists.
  std::size_t running_in_groups() {
    std::set<std::string> names;
    for (const api::ObjectPtr& group : all(api::kinds::pod_group()))
      names.insert(group->meta().name);
    return static_cast<std::size_t>(
        std::ranges::count_if(all(api::kinds::pod()), [&](const api::ObjectPtr& pod) {
          const auto& view = pod->view<api::PodView>();
          return view.phase == "Running" && names.contains(view.scheduling_group);
        }));
  }
};

struct Row {
  std::string scheduling;  // of the set; empty: none
  Texts want;
  std::string more = {};          // of the spec
  std::string job_template = {};  // scheduling of the workers' Job template
  std::string after = {};         // dependsOn of the workers
};

std::string job_set_spec(const Row& row) {
  const Replicated driver{.name = "d"};
  const Replicated workers{
      .name = "w",
      .replicas = 2,
      .pods = 3,
      .more = row.after,
      .more_job = row.job_template.empty() ? "" : "\"scheduling\":" + row.job_template};
  return fmt::format(R"("replicatedJobs":[{},{}]{}{}{}{})", driver.text(), workers.text(),
                     row.scheduling.empty() ? "" : ",\"scheduling\":", row.scheduling,
                     row.more.empty() ? "" : ",", row.more);
}

// One driver pod; two Jobs of three workers.
TEST(MappingRows, OfJobSets) {
  const std::string in_order = R"("startupPolicy":{"startupPolicyOrder":"InOrder"})";
  const std::string after = R"("dependsOn":[{"name":"d","status":"Ready"}])";
  const std::string gang = R"("schedulingPolicy":{"gang":{}})";
  const std::string entries = R"("replicatedJobs":[{"targetReplicatedJobs":["d"]},
                                 {"targetReplicatedJobs":["w"]}])";
  const std::string jobs = R"("replicatedJobs":[{"targetReplicatedJobs":["d"]},
                              {"targetReplicatedJobs":["w"],"job":{}}])";
  const Row rows[] = {
      // Level 1, in any order: one group of all pods.
      {"{}", {"pods jobset: gang 7"}},
      {"{" + gang + "}", {"pods jobset: gang 7"}},
      {R"({"schedulingPolicy":{"gang":{"minCount":5}}})", {"pods jobset: gang 5"}},
      {R"({"schedulingPolicy":{"basic":{}}})", {"pods jobset: basic"}},
      // Level 1, one after the other: one group for each replicatedJob.
      {.scheduling = "{}", .want = {"pods d: gang 1", "pods w: gang 6"}, .more = in_order},
      {.scheduling = "{}", .want = {"pods d: gang 1", "pods w: gang 6"}, .after = after},
      // Level 2: one group for the targets of an entry.
      {R"({"replicatedJobs":[{"targetReplicatedJobs":["d","w"]}]})", {"pods d-w: gang 7"}},
      {"{" + entries + "}", {"pods d: gang 1", "pods w: gang 6"}},
      // Level 3: one group for each Job.
      {"{" + jobs + "}", {"pods d: gang 1", "pods w: gang 3 x2"}},
      // Several levels: groups of groups.
      {"{" + gang + "," + entries + "}",
       {"groups root: gang 2", "pods d < root: gang 1", "pods w < root: gang 6"}},
      {"{" + gang + "," + jobs + "}",
       {"groups root: gang 2", "groups w < root: gang 2", "pods d < root: gang 1",
        "pods w-job < w: gang 3 x2"}},
      {.scheduling = R"({"schedulingPolicy":{"basic":{}},)" + entries + "}",
       .want = {"groups root: basic", "pods d < root: gang 1", "pods w < root: gang 6"},
       .more = in_order},
      // In the templates of Jobs instead of the set.
      {.scheduling = "", .want = {"pods w: gang 3 x2"}, .job_template = "{" + gang + "}"},
  };
  for (const Row& row : rows) {
    Rows run;
    run.create(job_set_kind(), "js", job_set_spec(row));
    run.advance(seconds{15});
    const std::string which = row.scheduling + row.more + row.after + row.job_template;
    EXPECT_EQ(run.groups(), row.want) << which;
    EXPECT_EQ(run.all(api::kinds::workload()).size(), 1U) << which;
    EXPECT_EQ(run.running_in_groups(), row.job_template.empty() ? 7U : 6U) << which;
  }
  Rows without;
  without.create(job_set_kind(), "js", job_set_spec({}));
  without.advance(seconds{10});
  EXPECT_EQ(without.all(api::kinds::pod()).size(), 7U);
}

TEST(MappingRows, TooManyTemplatesAreRefused) {
  std::string jobs, entries;
  for (char letter = 'a'; letter <= 'i'; ++letter) {
    jobs += (jobs.empty() ? "" : ",") + Replicated{.name = std::string(1, letter)}.text();
    entries +=
        fmt::format(R"({}{{"targetReplicatedJobs":["{}"]}})", entries.empty() ? "" : ",", letter);
  }
  Rows run;
  const auto made = run.world().ask(client::create_request(
      job_set_kind(), "default",
      parsed(fmt::format(
          R"({{"metadata":{{"name":"js"}},"spec":{{"replicatedJobs":[{}],"scheduling":{{"replicatedJobs":[{}]}}}}}})",
          jobs, entries))));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("must have at most 8 items"), std::string::npos)
      << made.error().message;
}

// Two replicas of three pods.
TEST(MappingRows, OfLeaderWorkerSets) {
  const std::string gang = R"("schedulingPolicy":{"gang":{}})";
  const std::string basic = R"("schedulingPolicy":{"basic":{}})";
  const Row rows[] = {
      // The whole set.
      {"{" + gang + "}", {"pods lws: gang 6"}},
      {"{" + basic + "}", {"pods lws: basic"}},
      // Each replica.
      {"{}", {"pods replica: gang 3 x2"}},
      {R"({"replica":{}})", {"pods replica: gang 3 x2"}},
      {R"({"replica":{)" + basic + "}}", {"pods replica: basic x2"}},
      // Each role.
      {R"({"replica":{"leader":{)" + gang + R"(},"worker":{)" + gang + "}}}",
       {"pods leader: gang 1 x2", "pods worker: gang 2 x2"}},
      {R"({"replica":{"worker":{)" + gang + "}}}",
       {"pods leader: basic x2", "pods worker: gang 2 x2"}},
      // Several levels: groups of groups. What is left out is basic there.
      {"{" + gang + R"(,"replica":{)" + gang + "}}",
       {"groups lws: gang 2", "pods replica < lws: gang 3 x2"}},
      {"{" + gang + R"(,"replica":{"worker":{)" + gang + "}}}",
       {"groups lws: gang 4", "pods leader < lws: basic x2", "pods worker < lws: gang 2 x2"}},
      {R"({"replica":{)" + gang + R"(,"worker":{}}})",
       {"groups replica: gang 2 x2", "pods leader < replica: basic x2",
        "pods worker < replica: basic x2"}},
      {"{" + gang + R"(,"replica":{)" + gang + R"(,"leader":{},"worker":{)" + gang + "}}}",
       {"groups lws: gang 2", "groups replica < lws: gang 2 x2", "pods leader < replica: basic x2",
        "pods worker < replica: gang 2 x2"}},
  };
  for (const Row& row : rows) {
    Rows run;
    run.create(lws_kind(), "llm", lws_spec(2, 3, row.scheduling));
    run.advance(seconds{15});
    EXPECT_EQ(run.groups(), row.want) << row.scheduling;
    EXPECT_EQ(run.running_in_groups(), 6U) << row.scheduling;
    EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "True/Created") << row.scheduling;
    // Scaled to nothing it has no group and keeps its Workload; then all come back.
    run.patch(lws_kind(), "llm", R"({"spec":{"replicas":0}})");
    run.advance(seconds{60});
    EXPECT_EQ(run.groups(), Texts{}) << row.scheduling;
    EXPECT_EQ(run.all(api::kinds::workload()).size(), 1U) << row.scheduling;
    run.patch(lws_kind(), "llm", R"({"spec":{"replicas":2}})");
    run.advance(seconds{15});
    EXPECT_EQ(run.groups(), row.want) << row.scheduling;
    EXPECT_EQ(run.running_in_groups(), 6U) << row.scheduling;
  }
}

// The Workload's templates follow, and keep what else they say.
TEST(MappingRows, ANewNumberOfReplicasChangesTheMinimumOfTheWhole) {
  Rows run;
  run.create(lws_kind(), "llm",
             lws_spec(1, 2, R"({"schedulingPolicy":{"gang":{}},"disruptionMode":{"all":{}},
                      "schedulingConstraints":{"topology":[{"key":"topology.kubernetes.io/rack"}]}})"));
  run.advance(seconds{10});
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":3}})");
  run.advance(seconds{10});
  EXPECT_EQ(run.groups(), Texts{"pods lws: gang 6"});
  EXPECT_EQ(run.running_in_groups(), 6U);
  const api::Json workload = run.all(api::kinds::workload())[0]->document();
  EXPECT_NE(api::to_text(workload).find(R"("minCount":6)"), std::string::npos);
  EXPECT_NE(api::to_text(workload).find("topology.kubernetes.io/rack"), std::string::npos);
}

TEST(MappingRows, ANewSizeIsANewRevisionOfGroups) {
  Rows run;
  run.create(lws_kind(), "llm", lws_spec(2, 3, "{}"));
  run.advance(seconds{15});
  run.patch(lws_kind(), "llm", R"({"spec":{"leaderWorkerTemplate":{"size":4}}})");
  bool both = false;  // old replicas keep their minimum while new ones have the new
  for (int i = 0; i < 3000 && !both; ++i) {
    run.step();
    both = run.groups() == Texts{"pods replica: gang 3", "pods replica: gang 4"};
  }
  EXPECT_TRUE(both);
  run.advance(seconds{120});
  EXPECT_EQ(run.groups(), Texts{"pods replica: gang 4 x2"});
  EXPECT_EQ(run.running_in_groups(), 8U);
}

}  // namespace
}  // namespace muster::sim
