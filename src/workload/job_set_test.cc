#include "workload/job_set.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/reading.h"
#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

using api::Json;

// A driver of one pod and three Jobs of four workers, with these further members of the spec and of
// the metadata.
Json job_set(std::string_view scheduling, std::string_view more = "", std::string_view meta = "",
             std::string_view workers = "", std::string_view driver = "") {
  return yaml(fmt::format(R"(
metadata: {{name: js, namespace: ml, uid: u{}}}
spec:
  {}
  {}
  replicatedJobs:
  - name: driver
    replicas: 1
    template: {{spec: {{parallelism: 1, completions: 1, {} template: {{spec: {{priorityClassName: high}}}}}}}}
  - name: workers
    replicas: 3
    {}
    template: {{spec: {{parallelism: 4, completions: 4, {} template: {{spec: {{priorityClassName: high}}}}}}}}
)",
                          meta, scheduling.empty() ? "" : fmt::format("scheduling: {}", scheduling),
                          more.starts_with("dependsOn") ? "" : more, driver,
                          more.starts_with("dependsOn") ? more : "", workers));
}

// Its templates, one per line: "root: gang 2", "  workers-job: gang 4 rack all x3".
std::vector<std::string> lines(const Json& holder, const std::string& indent = "") {
  std::vector<std::string> out;
  for (const bool composite : {true, false})
    for (const Json& item :
         api::elements(holder, composite ? "compositePodGroupTemplates" : "podGroupTemplates")) {
      const Json* gang = api::find_set(api::part_of(item, "schedulingPolicy"), "gang");
      std::string line = fmt::format("{}{}:", indent, api::find_string(item, "name"));
      line += gang == nullptr
                  ? std::string(" basic")
                  : fmt::format(" {} {}", composite ? "gang of groups" : "gang",
                                api::find_integer(*gang, composite ? "minGroupCount" : "minCount")
                                    .value_or(-1));
      for (const Json& key : api::elements(api::part_of(item, "schedulingConstraints"), "topology"))
        line += fmt::format(" in {}", api::find_string(key, "key"));
      if (api::find_set(api::part_of(item, "disruptionMode"), "all") != nullptr) line += " all";
      for (const Json& claim : api::elements(item, "resourceClaims"))
        line += fmt::format(" claim {}", api::find_string(claim, "name"));
      EXPECT_EQ(api::find_string(item, "priorityClassName"), "high");
      out.push_back(line);
      for (std::string& below : lines(item, indent + "  ")) out.push_back(std::move(below));
    }
  return out;
}

std::vector<std::string> templates(const Json& set) {
  const JobOptions options;
  const JobSetMapping mapping(set, options);
  if (!mapping.grouped()) return {};
  const Result<Json> workload = mapping.workload();
  if (!workload) return {workload.error().message};
  return lines(api::part_of(*workload, "spec"));
}

// The groups of an attempt: "PodGroup js-…-workers-0 < js-…-workers".
std::vector<std::string> groups(const Json& set, std::int32_t attempt = 0) {
  const JobOptions options;
  const JobSetMapping mapping(set, options);
  const std::string prefix = mapping.workload_name();
  std::vector<std::string> out;
  for (const JobSetMapping::Group& group : mapping.groups(attempt))
    out.push_back(fmt::format(
        "{} {}{}", group.composite ? "composite" : "pods", group.name.substr(prefix.size()),
        group.parent.empty() ? "" : " < " + group.parent.substr(prefix.size())));
  return out;
}

using Lines = std::vector<std::string>;

TEST(JobSetMapping, NothingIsMadeOfASetThatSaysNothing) {
  EXPECT_EQ(templates(job_set("")), Lines{});
}

TEST(JobSetMapping, LevelOneIsOneGroup) {
  const Json set = job_set("{}");
  EXPECT_EQ(templates(set), Lines{"jobset: gang 13"});
  EXPECT_EQ(groups(set), Lines{"pods -jobset"});
  EXPECT_EQ(groups(set, 2), Lines{"pods .2-jobset"}) << "every attempt has groups of its own";
  EXPECT_EQ(templates(job_set("{schedulingPolicy: {gang: {minCount: 5}}, schedulingConstraints: "
                              "{topology: [{key: rack}]}, disruptionMode: {all: {}}}")),
            Lines{"jobset: gang 5 in rack all"});
  EXPECT_EQ(templates(job_set("{schedulingPolicy: {basic: {}}}")), Lines{"jobset: basic"});
}

TEST(JobSetMapping, LevelOneInTurnIsOneGroupForEachReplicatedJob) {
  for (const std::string_view order : {"startupPolicy: {startupPolicyOrder: InOrder}",
                                       "dependsOn: [{name: driver, status: Ready}]"}) {
    EXPECT_EQ(templates(job_set("{schedulingPolicy: {gang: {}}}", order)),
              (Lines{"driver: gang 1", "workers: gang 12"}));
    EXPECT_EQ(templates(job_set("{schedulingPolicy: {basic: {}}}", order)),
              (Lines{"driver: basic", "workers: basic"}));
    // One whole for topology and disruption, yet no gang.
    EXPECT_EQ(templates(job_set("{schedulingConstraints: {topology: [{key: block}]}}", order)),
              (Lines{"root: basic in block", "  driver: gang 1", "  workers: gang 12"}));
  }
}

TEST(JobSetMapping, EntriesAreGroups) {
  EXPECT_EQ(templates(job_set("{replicatedJobs: [{targetReplicatedJobs: [driver, workers]}]}")),
            Lines{"driver-workers: gang 13"});
  const Json two = job_set(
      "{replicatedJobs: [{targetReplicatedJobs: [driver], schedulingPolicy: {basic: {}}}, "
      "{targetReplicatedJobs: [workers], schedulingConstraints: {topology: [{key: rack}]}, "
      "resourceClaims: [{name: c, resourceClaimName: shared}]}]}");
  EXPECT_EQ(templates(two), (Lines{"driver: basic", "workers: gang 12 in rack claim c"}));
  EXPECT_EQ(groups(two), (Lines{"pods -driver", "pods -workers"}));
}

TEST(JobSetMapping, WithJobEachJobIsAGroup) {
  const Json set = job_set(
      "{replicatedJobs: [{targetReplicatedJobs: [driver]}, {targetReplicatedJobs: [workers], job: "
      "{schedulingConstraints: {topology: [{key: rack}]}}}]}");
  EXPECT_EQ(templates(set), (Lines{"driver: gang 1", "workers: gang 4 in rack"}));
  EXPECT_EQ(groups(set),
            (Lines{"pods -driver", "pods -workers-0", "pods -workers-1", "pods -workers-2"}));
}

TEST(JobSetMapping, ARootAroundPartsIsAGroupOfGroups) {
  const Json set = job_set(
      "{schedulingPolicy: {gang: {}}, schedulingConstraints: {topology: [{key: block}]}, "
      "replicatedJobs: [{targetReplicatedJobs: [driver], job: {}}, {targetReplicatedJobs: "
      "[workers], job: {schedulingConstraints: {topology: [{key: rack}]}}}]}");
  EXPECT_EQ(templates(set), (Lines{"root: gang of groups 2 in block", "  workers: gang of groups 3",
                                   "    workers-job: gang 4 in rack", "  driver: gang 1"}));
  EXPECT_EQ(groups(set), (Lines{"composite -root", "pods -driver-0 < -root",
                                "composite -workers < -root", "pods -workers-0 < -workers",
                                "pods -workers-1 < -workers", "pods -workers-2 < -workers"}));
  EXPECT_EQ(groups(set, 1)[5], "pods .1-workers-2 < .1-workers");
}

TEST(JobSetMapping, EachLevelSaysItsOwn) {
  EXPECT_EQ(templates(job_set(
                "{schedulingPolicy: {gang: {minGroupCount: 1}}, disruptionMode: {all: {}}, "
                "replicatedJobs: [{targetReplicatedJobs: [driver], schedulingPolicy: {basic: {}}}, "
                "{targetReplicatedJobs: [workers], schedulingPolicy: {gang: {minGroupCount: 2}}, "
                "schedulingConstraints: {topology: [{key: block}]}, job: {schedulingPolicy: {gang: "
                "{minCount: 3}}, resourceClaims: [{name: c, resourceClaimTemplateName: t}]}}]}")),
            (Lines{"root: gang of groups 1 all", "  workers: gang of groups 2 in block all",
                   "    workers-job: gang 3 all claim c", "  driver: basic all"}));
}

TEST(JobSetMapping, AnEntryThatIsAGroupOfGroupsBesideOthersGetsABasicRoot) {
  EXPECT_EQ(templates(job_set("{replicatedJobs: [{targetReplicatedJobs: [driver]}, "
                              "{targetReplicatedJobs: [workers], schedulingConstraints: {topology: "
                              "[{key: block}]}, job: {}}]}")),
            (Lines{"root: basic", "  workers: gang of groups 3 in block", "    workers-job: gang 4",
                   "  driver: gang 1"}));
}

TEST(JobSetMapping, MinGroupCountMakesEachReplicatedJobAGroup) {
  EXPECT_EQ(templates(job_set("{schedulingPolicy: {gang: {minGroupCount: 1}}}")),
            (Lines{"root: gang of groups 1", "  driver: gang 1", "  workers: gang 12"}));
}

// The proposal's example: the whole is basic, each Job of the workers in one rack.
TEST(JobSetMapping, TemplatesMaySayIt) {
  const Json set = job_set("{schedulingPolicy: {basic: {}}}", "", "",
                           "scheduling: {schedulingConstraints: {topology: [{key: rack}]}},");
  EXPECT_EQ(templates(set), (Lines{"root: basic", "  workers: basic",
                                   "    workers-job: basic in rack", "  driver: basic"}));
  EXPECT_EQ(templates(job_set("{}", "", "", "scheduling: {schedulingPolicy: {gang: {}}},")),
            (Lines{"root: gang of groups 2", "  workers: gang of groups 3",
                   "    workers-job: gang 4", "  driver: basic"}));
  const Json alone = job_set("", "", "", "scheduling: {schedulingPolicy: {gang: {}}},");
  EXPECT_EQ(templates(alone), Lines{"workers: gang 4"});
  EXPECT_EQ(groups(alone), (Lines{"pods -workers-0", "pods -workers-1", "pods -workers-2"}));
}

TEST(JobSetMapping, ExclusivePlacementMakesEachJobAGroupInOneDomain) {
  constexpr std::string_view kRack =
      ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}";
  EXPECT_EQ(templates(job_set("{schedulingPolicy: {gang: {}}}", "", kRack)),
            (Lines{"root: gang of groups 2", "  workers: gang of groups 3",
                   "    workers-job: gang 4 in rack", "  driver: gang 1 in rack"}));
  EXPECT_EQ(templates(job_set("", "", kRack)), Lines{}) << "no group was asked for";
}

// Owners, parent, template: everything that a group needs.
TEST(JobSetMapping, MakesGroups) {
  const Json set = job_set(
      "{schedulingPolicy: {gang: {}}, replicatedJobs: [{targetReplicatedJobs: [driver]}, "
      "{targetReplicatedJobs: [workers], job: {schedulingPolicy: {basic: {}}, "
      "schedulingConstraints: {topology: [{key: rack}]}}}]}");
  const JobOptions options;
  const JobSetMapping mapping(set, options);
  Json workload = *mapping.workload();
  EXPECT_EQ(api::to_text(*api::find_path(workload, "spec.controllerRef")),
            R"({"apiGroup":"jobset.x-k8s.io","kind":"JobSet","name":"js"})");
  workload.as_object()["metadata"].as_object()["uid"] = "w";
  const std::vector<JobSetMapping::Group> made = mapping.groups(0);
  expect_document(mapping.group(made.back(), workload), fmt::format(R"(
metadata:
  name: {0}-workers-2
  namespace: ml
  annotations: {{scheduling.muster.dev/expected-pods: "4"}}
  ownerReferences:
  - {{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: js, uid: u, controller: true,
     blockOwnerDeletion: true}}
  - {{apiVersion: scheduling.k8s.io/v1beta1, kind: Workload, name: {0}, uid: w}}
spec:
  parentCompositePodGroupName: {0}-workers
  workloadRef: {{workloadName: {0}, templateName: workers-job}}
  schedulingPolicy: {{basic: {{}}}}
  schedulingConstraints: {{topology: [{{key: rack}}]}}
  priorityClassName: high
)",
                                                                    mapping.workload_name()));
}

TEST(JobSetMapping, LinksJobsToTheirGroups) {
  const std::string_view scheduling =
      "{schedulingPolicy: {gang: {}}, replicatedJobs: [{targetReplicatedJobs: [driver]}, "
      "{targetReplicatedJobs: [workers], job: {}}]}";
  const JobOptions options;
  const Json central = job_set(scheduling);
  const JobSetMapping mapping(central, options);
  EXPECT_EQ(mapping.link(0, 0, 0),
            (JobSetMapping::Link{.pod_group = mapping.workload_name() + "-driver"}));
  EXPECT_EQ(mapping.link(1, 2, 3),
            (JobSetMapping::Link{.pod_group = mapping.workload_name() + ".3-workers-2"}));
  const Json delegated =
      job_set(scheduling, "", ", annotations: {scheduling.muster.dev/group-management: delegated}");
  const JobSetMapping to_jobs(delegated, options);
  EXPECT_TRUE(to_jobs.workload());
  EXPECT_EQ(to_jobs.link(1, 2, 0),
            (JobSetMapping::Link{.template_name = "workers-job",
                                 .parent = mapping.workload_name() + "-workers"}));
  EXPECT_EQ(groups(delegated), (Lines{"composite -root", "composite -workers < -root"}))
      << "the Jobs' controller makes theirs";
}

// "workers-0" could be a replicatedJob as well as the first Job of "workers".
TEST(JobSetMapping, NamesNeverCollide) {
  const Json set = yaml(R"(
metadata: {name: js, namespace: ml, uid: u}
spec:
  scheduling:
    replicatedJobs:
    - {targetReplicatedJobs: [workers], job: {}}
    - {targetReplicatedJobs: [workers-0]}
  replicatedJobs:
  - {name: workers, replicas: 2, template: {spec: {parallelism: 1}}}
  - {name: workers-0, replicas: 1, template: {spec: {parallelism: 1}}}
)");
  const std::vector<std::string> made = groups(set);
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[0], "pods -workers-0");
  EXPECT_TRUE(made[2].starts_with("pods -workers-0-")) << made[2];
}

TEST(JobSetMapping, SetsWithoutPodsHaveNoGroups) {
  const Json set = yaml(R"(
metadata: {name: js, namespace: ml, uid: u}
spec:
  scheduling: {schedulingPolicy: {gang: {minGroupCount: 1}}}
  replicatedJobs:
  - {name: none, replicas: 0, template: {spec: {parallelism: 4}}}
  - {name: some, replicas: 1, template: {spec: {parallelism: 4, completions: 2}}}
)");
  const JobOptions options;
  EXPECT_EQ(groups(set), (Lines{"composite -root", "pods -some < -root"}));
  const JobSetMapping mapping(set, options);
  EXPECT_EQ(mapping.link(0, 0, 0), JobSetMapping::Link{});
}

TEST(JobSetMapping, RefusesWithASentence) {
  struct Case {
    const char* name;
    Json set;
    const char* want;
  };
  const Case cases[] = {
      {"split brain",
       job_set("{replicatedJobs: [{targetReplicatedJobs: [driver, workers]}]}", "", "",
               "scheduling: {schedulingPolicy: {gang: {}}},"),
       "spec.replicatedJobs[1].template.spec.scheduling: Forbidden: "
       "spec.scheduling.replicatedJobs already says how this replicatedJob is scheduled; it can be "
       "said in one place only"},
      {"a gang in turn",
       job_set("{schedulingPolicy: {gang: {}}, replicatedJobs: [{targetReplicatedJobs: [driver]}, "
               "{targetReplicatedJobs: [workers]}]}",
               "startupPolicy: {startupPolicyOrder: InOrder}"),
       "spec.scheduling.schedulingPolicy: Forbidden: replicatedJobs start one after the other "
       "here: the whole must be basic, each of them can be a gang"},
      {"an entry in turn",
       job_set("{replicatedJobs: [{targetReplicatedJobs: [driver, workers]}]}",
               "dependsOn: [{name: driver, status: Ready}]"),
       "spec.scheduling.replicatedJobs[0]: Forbidden: its replicatedJobs start one after the other "
       "and cannot be one gang"},
      {"a minimum in turn",
       job_set("{schedulingPolicy: {gang: {minCount: 3}}}",
               "startupPolicy: {startupPolicyOrder: InOrder}"),
       "spec.scheduling.schedulingPolicy.gang.minCount: Forbidden: replicatedJobs start one after "
       "the other here, and each is a gang of its own"},
      {"nobody's", job_set("{replicatedJobs: [{targetReplicatedJobs: [driver]}]}"),
       "spec.scheduling.replicatedJobs: Required value: replicatedJob 'workers' is not targeted"},
      {"twice",
       job_set("{replicatedJobs: [{targetReplicatedJobs: [driver, workers]}, "
               "{targetReplicatedJobs: [driver]}]}"),
       "spec.scheduling.replicatedJobs[1].targetReplicatedJobs[0]: Duplicate value: \"driver\""},
      {"too many pods", job_set("{schedulingPolicy: {gang: {minCount: 14}}}"),
       "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 14: must not be greater "
       "than the number of its pods (13)"},
      {"pods of groups",
       job_set("{schedulingPolicy: {gang: {minCount: 2}}, replicatedJobs: [{targetReplicatedJobs: "
               "[driver, workers]}]}"),
       "spec.scheduling.schedulingPolicy.gang.minCount: Forbidden: this group consists of groups: "
       "use minGroupCount"},
      {"job of two",
       job_set("{replicatedJobs: [{targetReplicatedJobs: [driver, workers], job: {}}]}"),
       "spec.scheduling.replicatedJobs[0].job: Forbidden: may only be said of one replicatedJob"},
      {"shared groups are nobody's",
       job_set("{}", "", ", annotations: {scheduling.muster.dev/group-management: delegated}"),
       "metadata.annotations[scheduling.muster.dev/group-management]: Forbidden: the groups of "
       "Jobs can be left to the Jobs only where each Job is a group of its own"},
  };
  for (const Case& each : cases) EXPECT_EQ(templates(each.set), Lines{each.want}) << each.name;
}

TEST(JobSetMapping, OneWorkloadHasOnePriority) {
  Json set = job_set("{}");
  Json* pods = const_cast<Json*>(api::find_path(set, "spec"));
  pods->as_object()["replicatedJobs"]
      .as_array()[1]
      .as_object()["template"]
      .as_object()["spec"]
      .as_object()["template"]
      .as_object()["spec"]
      .as_object()["priorityClassName"] = "low";
  const JobOptions options;
  const JobSetMapping mapping(set, options);
  ASSERT_FALSE(mapping.workload());
  EXPECT_EQ(mapping.workload().error().message,
            "spec.replicatedJobs[1].template.spec.template.spec.priorityClassName: Invalid value: "
            "\"low\": must be \"high\" as in replicatedJob 'driver': what is scheduled as one "
            "workload has one priority");
}

TEST(JobSetMapping, ANewSizeChangesMinimumsAlone) {
  const std::string_view scheduling =
      "{schedulingPolicy: {gang: {minGroupCount: 1}}, schedulingConstraints: {topology: [{key: "
      "block}]}, disruptionMode: {all: {}}}";
  const JobOptions options;
  const Json set = job_set(scheduling);
  const Json stored = *JobSetMapping(set, options).workload();
  Json larger = set;
  larger.as_object()["spec"].as_object()["replicatedJobs"].as_array()[1].as_object()["replicas"] =
      5;
  const Json wanted = *JobSetMapping(larger, options).workload();
  ASSERT_NE(api::part_of(stored, "spec"), api::part_of(wanted, "spec"));
  const Json templates = resized_templates(stored, wanted);
  EXPECT_EQ(lines(templates), (Lines{"root: gang of groups 1 in block all", "  driver: gang 1 all",
                                     "  workers: gang 20 all"}));
}

}  // namespace
}  // namespace muster::workload
