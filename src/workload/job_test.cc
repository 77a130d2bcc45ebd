#include "workload/job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

using api::Json;

const std::string_view kTrain = R"(
metadata:
  name: train
  namespace: ml
  uid: 00000000-0000-0000-0000-000000000001
  annotations: {note: mine, scheduling.muster.dev/team: vision}
spec:
  parallelism: 4
  completions: 4
  completionMode: Indexed
  scheduling:
    schedulingPolicy: {gang: {}}
    schedulingConstraints: {topology: [{key: rack}]}
    disruptionMode: {all: {}}
  template: {spec: {priorityClassName: high}}
)";

TEST(JobMapping, BuildsTheWorkloadOfAGang) {
  expect_document(job_workload(yaml(kTrain), {}), R"(
metadata:
  name: train-585bcc5996
  namespace: ml
  annotations: {scheduling.muster.dev/team: vision}
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: train, uid: 00000000-0000-0000-0000-000000000001,
     controller: true, blockOwnerDeletion: true}
spec:
  controllerRef: {apiGroup: batch, kind: Job, name: train}
  podGroupTemplates:
  - name: train-pgt-0
    schedulingPolicy: {gang: {minCount: 4}}
    schedulingConstraints: {topology: [{key: rack}]}
    disruptionMode: {all: {}}
    priorityClassName: high
)");
}

TEST(JobMapping, MakesItsGroup) {
  Json workload = *job_workload(yaml(kTrain), {});
  workload.as_object()["metadata"].as_object()["uid"] = "w-uid";
  expect_document(job_pod_group(yaml(kTrain), workload), R"(
metadata:
  name: train-585bcc5996-train-pgt-0-7654697dd6
  namespace: ml
  annotations: {scheduling.muster.dev/team: vision}
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: train, uid: 00000000-0000-0000-0000-000000000001,
     controller: true, blockOwnerDeletion: true}
  - {apiVersion: scheduling.k8s.io/v1beta1, kind: Workload, name: train-585bcc5996, uid: w-uid}
spec:
  workloadRef: {workloadName: train-585bcc5996, templateName: train-pgt-0}
  schedulingPolicy: {gang: {minCount: 4}}
  schedulingConstraints: {topology: [{key: rack}]}
  disruptionMode: {all: {}}
  priorityClassName: high
)");
}

// What the one template of a Job says of its policy.
std::string policy_of(std::string_view spec, const JobOptions& options = {}) {
  const Json job =
      yaml("{metadata: {name: j, namespace: ns, uid: u}, spec: " + std::string(spec) + "}");
  const Result<Json> workload = job_workload(job, options);
  if (!workload) return workload.error().message;
  const Json& templates = *api::find_path(*workload, "spec.podGroupTemplates");
  return api::to_text(*api::find(templates.get_array().front(), "schedulingPolicy"));
}

TEST(JobMapping, ChoosesThePolicy) {
  const JobOptions by_index{.gang_for_indexed = true};
  struct Case {
    const char* name;
    const char* spec;
    JobOptions options;
    const char* want;
  };
  const Case cases[] = {
      {"says nothing", "{parallelism: 3}", {}, R"({"basic":{}})"},
      {"a minimum of its own",
       "{parallelism: 3, scheduling: {schedulingPolicy: {gang: {minCount: 2}}}}",
       {},
       R"({"gang":{"minCount":2}})"},
      {"parallelism of one by default",
       "{scheduling: {schedulingPolicy: {gang: {}}}}",
       {},
       R"({"gang":{"minCount":1}})"},
      {"no pods wanted now",
       "{parallelism: 0, scheduling: {schedulingPolicy: {gang: {}}}}",
       {},
       R"({"gang":{"minCount":1}})"},
      {"indexed and all at once", "{completionMode: Indexed, parallelism: 3, completions: 3}",
       by_index, R"({"gang":{"minCount":3}})"},
      {"indexed, in turns", "{completionMode: Indexed, parallelism: 3, completions: 6}", by_index,
       R"({"basic":{}})"},
      {"one pod", "{completionMode: Indexed, parallelism: 1, completions: 1}", by_index,
       R"({"basic":{}})"},
      {"the user says Basic",
       "{completionMode: Indexed, parallelism: 3, completions: 3,"
       " scheduling: {schedulingPolicy: {basic: {}}}}",
       by_index, R"({"basic":{}})"},
      {"not all at once by default",
       "{completionMode: Indexed, parallelism: 3, completions: 3}",
       {},
       R"({"basic":{}})"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(policy_of(each.spec, each.options), each.want) << each.name;
}

TEST(JobMapping, SaysHowManyPodsWillComeWhereTheyMustBeTogether) {
  const auto expected = [](std::string_view scheduling, std::string_view annotations = "{}") {
    const Json job =
        yaml(fmt::format("{{metadata: {{name: j, namespace: ns, uid: u, annotations: {}}}, spec: "
                         "{{parallelism: 4, completions: 3, scheduling: {}}}}}",
                         annotations, scheduling));
    const Result<Json> workload = job_workload(job, {});
    EXPECT_TRUE(workload) << workload.error().message;
    const Json* found = api::find_path(*workload, "metadata.annotations");
    return found == nullptr ? "none" : api::to_text(*found);
  };
  EXPECT_EQ(expected("{schedulingConstraints: {topology: [{key: rack}]}}"),
            R"({"scheduling.muster.dev/expected-pods":"3"})");
  EXPECT_EQ(expected("{schedulingConstraints: {topology: [{key: rack}]}}",
                     R"({scheduling.muster.dev/expected-pods: "9"})"),
            R"({"scheduling.muster.dev/expected-pods":"9"})");
  EXPECT_EQ(expected("{schedulingPolicy: {gang: {}}, schedulingConstraints: {topology: "
                     "[{key: rack}]}}"),
            "none");
  EXPECT_EQ(expected("{schedulingPolicy: {basic: {}}}"), "none");
}

TEST(JobMapping, FaultsNameTheJobsOwnFields) {
  EXPECT_EQ(policy_of("{scheduling: {schedulingPolicy: {gang: {minCount: -1}}}}"),
            "Workload \"j-548bf4f8b6\" cannot be built: "
            "spec.scheduling.schedulingPolicy.gang.minCount: item \"j-pgt-0\": Invalid value: -1: "
            "must be greater than or equal to 1");
}

TEST(JobMapping, AGangFollowsParallelismUnlessItSaysOtherwise) {
  EXPECT_EQ(job_gang_minimum(yaml("{spec: {parallelism: 6}}")), 6);
  EXPECT_EQ(job_gang_minimum(yaml("{spec: {parallelism: 0}}")), 1);
  EXPECT_EQ(job_gang_minimum(yaml("{spec: {}}")), 1);
  EXPECT_EQ(job_gang_minimum(yaml("{spec: {parallelism: 6, scheduling: {schedulingPolicy: {gang: "
                                  "{minCount: 4}}}}}")),
            4);
}

api::ObjectMeta owned_by(std::string kind, std::string api_version, api::StringPairs annotations) {
  api::ObjectMeta meta;
  meta.name = "j";
  meta.annotations = std::move(annotations);
  if (!kind.empty())
    meta.owners.push_back({.api_version = std::move(api_version),
                           .kind = std::move(kind),
                           .name = "o",
                           .uid = "u",
                           .controller = true});
  return meta;
}

TEST(JobMapping, KnowsWhoGroupsTheJob) {
  const api::StringPairs by_template{{"scheduling.k8s.io/group-template-name", "workers"}};
  const JobOptions off{.gates = api::Gates().without(api::Gate::WorkloadWithJob)};
  struct Case {
    const char* name;
    api::ObjectMeta meta;
    JobFacts facts;
    JobOptions options;
    JobRole want;
  };
  const Case cases[] = {
      {"a Job of a user", owned_by("", "", {}), {}, {}, JobRole::Root},
      {"of a CronJob", owned_by("CronJob", "batch/v1", {}), {}, {}, JobRole::Root},
      {"of a namesake", owned_by("CronJob", "other.dev/v1", {}), {}, {}, JobRole::Ungrouped},
      {"of a set that knows nothing",
       owned_by("JobSet", "jobset.x-k8s.io/v1alpha2", {}),
       {},
       {},
       JobRole::Ungrouped},
      {"of a set that made a Workload",
       owned_by("JobSet", "jobset.x-k8s.io/v1alpha2", by_template),
       {},
       {},
       JobRole::Delegated},
      {"an annotation without an owner", owned_by("", "", by_template), {}, {}, JobRole::Root},
      {"pods in a group already",
       owned_by("", "", {}),
       {.pods_name_group = true},
       {},
       JobRole::Ungrouped},
      {"gate off", owned_by("", "", {}), {.says_scheduling = true}, off, JobRole::Ungrouped},
      {"only what is asked for",
       owned_by("", "", {}),
       {},
       {.group_all = false},
       JobRole::Ungrouped},
      {"and it asks",
       owned_by("", "", {}),
       {.says_scheduling = true},
       {.group_all = false},
       JobRole::Root},
  };
  for (const Case& each : cases)
    EXPECT_EQ(grouping_of(each.meta, each.facts, each.options).role, each.want) << each.name;
}

TEST(JobMapping, ReadsBothSpellingsOfTheParent) {
  const auto parent = [](api::StringPairs annotations) {
    annotations.insert(annotations.begin(), {"scheduling.k8s.io/group-template-name", "workers"});
    return grouping_of(owned_by("JobSet", "jobset.x-k8s.io/v1alpha2", std::move(annotations)), {},
                       {})
        .delegation.parent_composite;
  };
  EXPECT_EQ(parent({{"scheduling.k8s.io/parent-compositepodgroup", "new"}}), "new");
  EXPECT_EQ(parent({{"scheduling.k8s.io/parent-composite-podgroup", "once"}}), "once");
  EXPECT_EQ(parent({{"scheduling.k8s.io/parent-composite-podgroup", "once"},
                    {"scheduling.k8s.io/parent-compositepodgroup", "new"}}),
            "new");
}

const std::string_view kSet = R"(
metadata: {name: set, namespace: ns, annotations: {scheduling.muster.dev/team: vision, other: z}}
spec:
  compositePodGroupTemplates:
  - name: root
    schedulingPolicy: {gang: {minGroupCount: 2}}
    podGroupTemplates:
    - name: driver
      schedulingPolicy: {basic: {}}
    - name: workers
      schedulingPolicy: {gang: {minCount: 2}}
      preemptionPolicy: Never
)";

TEST(JobMapping, MakesTheGroupOfADelegatedJobFromANestedTemplate) {
  const Json job = yaml("{metadata: {name: set-workers-0, namespace: ns, uid: u-0}, spec: {}}");
  const Json workload = yaml(kSet);
  expect_document(delegated_pod_group(
                      job, {.template_name = "workers", .parent_composite = "set-root"}, workload),
                  R"(
metadata:
  name: set-workers-856fbd9f8d
  namespace: ns
  annotations: {scheduling.muster.dev/team: vision}
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: set-workers-0, uid: u-0, controller: true,
     blockOwnerDeletion: true}
spec:
  parentCompositePodGroupName: set-root
  workloadRef: {workloadName: set, templateName: workers}
  schedulingPolicy: {gang: {minCount: 2}}
  preemptionPolicy: Never
)");
}

TEST(JobMapping, ADelegatedJobWithoutATemplateTakesTheFirstOfPods) {
  const Json job = yaml("{metadata: {name: a, namespace: ns, uid: u-0}, spec: {}}");
  const Json workload = yaml(kSet);
  const Result<Json> group = delegated_pod_group(job, {}, workload);
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(api::find_string(*api::find_path(*group, "spec.workloadRef"), "templateName"),
            "driver");
  const Result<Json> none = delegated_pod_group(job, {.template_name = "nobody"}, workload);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "Workload \"set\" has no template \"nobody\"; it has: root, driver, workers");
}

TEST(JobMapping, AForeignWorkloadWithSeveralTemplatesIsRefused) {
  const Json job = yaml("{metadata: {name: a, namespace: ns, uid: u-0}, spec: {}}");
  const Json workload = yaml(kSet);
  const Result<Json> group = job_pod_group(job, workload);
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().message, "Workload \"set\" has 3 templates, and a Job has one group");
}

}  // namespace
}  // namespace muster::workload
