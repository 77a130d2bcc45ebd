#include "workload/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

using api::Json;

CompiledManifest compiled(std::string_view text, const ManifestOptions& options = {}) {
  Result<CompiledManifest> out = compile_manifest(text, options);
  EXPECT_TRUE(out) << out.error().message;
  return out ? std::move(*out) : CompiledManifest();
}

std::string refusal(std::string_view text, const ManifestOptions& options = {}) {
  const Result<CompiledManifest> out = compile_manifest(text, options);
  return out ? "accepted" : out.error().message;
}

// As the proposal of controller APIs spelled it.
const std::string_view kOldJob = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, uid: 00000000-0000-0000-0000-000000000001}
spec:
  parallelism: 4
  completions: 4
  scheduling:
    policy:
      gang: {}
    constraints:
      topology:
      - level: topology.kubernetes.io/zone
    disruption:
      all: {}
  template:
    spec:
      restartPolicy: Never
      priorityClassName: high
      containers:
      - {name: train-node, image: "training-image:v1"}
)";

TEST(Manifest, AJobBecomesWorkloadAndGroup) {
  const CompiledManifest out = compiled(kOldJob);
  EXPECT_EQ(print_tree(out),
            "Job train\n"
            "└─ Workload train-585bcc5996\n"
            "   └─ PodGroup train-585bcc5996-train-pgt-0-7654697dd6: gang of 4, within one "
            "topology.kubernetes.io/zone, disrupted together, priority class high\n"
            "      └─ 4 pods of Job ml/train\n");
}

TEST(Manifest, NamesEachFieldItChanged) {
  const CompiledManifest out = compiled(kOldJob);
  EXPECT_EQ(out.notes,
            (std::vector<std::string>{
                "Job \"train\": spec.scheduling.policy is now spec.scheduling.schedulingPolicy",
                "Job \"train\": spec.scheduling.constraints is now "
                "spec.scheduling.schedulingConstraints",
                "Job \"train\": spec.scheduling.disruption is now spec.scheduling.disruptionMode",
                "Job \"train\": spec.scheduling.schedulingConstraints.topology[0].level is now "
                "spec.scheduling.schedulingConstraints.topology[0].key"}));
  EXPECT_EQ(api::to_text(*api::find_path(out.documents.front(), "spec.scheduling")),
            R"({"schedulingPolicy":{"gang":{}},"schedulingConstraints":{"topology":[{"key":)"
            R"("topology.kubernetes.io/zone"}]},"disruptionMode":{"all":{}}})");
}

TEST(Manifest, PrintsWhatItReadsBackUnchanged) {
  const CompiledManifest out = compiled(kOldJob);
  const std::string text = print_yaml(out);
  EXPECT_NE(text.find("# The pods of Job ml/train get spec.schedulingGroup.podGroupName: "
                      "train-585bcc5996-train-pgt-0-7654697dd6\n"),
            std::string::npos)
      << text;
  const std::vector<std::string_view> documents = api::split_yaml_documents(text);
  ASSERT_EQ(documents.size(), out.documents.size()) << text;
  for (std::size_t i = 0; i < documents.size(); ++i)
    EXPECT_EQ(yaml(documents[i]), out.documents[i]);
  const Json list = yaml(print_json(out));
  EXPECT_EQ(api::find_array(list, "items")->size(), 3U);
  EXPECT_EQ(api::to_text(*api::find(list, "links")),
            R"([{"job":"ml/train","pods":4,"podGroupName":)"
            R"("train-585bcc5996-train-pgt-0-7654697dd6"}])");
}

TEST(Manifest, OldGroupsGetTheirNewShape) {
  const CompiledManifest first = compiled(R"(
apiVersion: scheduling.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: pd-1}
spec:
  workloadRef: {name: training-workload}
  podGroupTemplateRef: {name: pd-1-template}
  schedulingPolicy: {gang: {minCount: 2}}
status: {scheduledPods: 2}
)");
  EXPECT_EQ(api::to_text(*api::find_path(first.documents.front(), "spec.workloadRef")),
            R"({"workloadName":"training-workload","templateName":"pd-1-template"})");
  EXPECT_EQ(api::find_string(first.documents.front(), "apiVersion"), "scheduling.k8s.io/v1beta1");
  EXPECT_EQ(api::to_text(*api::find(first.documents.front(), "status")), "{}");
  EXPECT_EQ(first.notes.size(), 4U) << testing::PrintToString(first.notes);

  const CompiledManifest second = compiled(R"(
apiVersion: scheduling.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: pg}
spec:
  podGroupTemplateRef: {workload: {workloadName: w, podGroupTemplateName: t}}
  schedulingPolicy: {gang: {minCount: 2}}
)");
  EXPECT_EQ(api::to_text(*api::find_path(second.documents.front(), "spec.workloadRef")),
            R"({"workloadName":"w","templateName":"t"})");
}

TEST(Manifest, AWorkloadBecomesItsTreeOfGroups) {
  const CompiledManifest out = compiled(R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: serve}
spec:
  compositePodGroupTemplates:
  - name: root
    schedulingPolicy: {gang: {minGroupCount: 2}}
    podGroupTemplates:
    - {name: prefill, schedulingPolicy: {gang: {minCount: 4}}}
    - {name: decode, schedulingPolicy: {basic: {}}}
)");
  EXPECT_EQ(print_tree(out),
            "Workload serve\n"
            "└─ CompositePodGroup serve-root-8868d6784: gang of 2 groups\n"
            "   ├─ PodGroup serve-prefill-5596fdd988: gang of 4\n"
            "   └─ PodGroup serve-decode-9bc7f9c54: pods one by one\n");
}

TEST(Manifest, RefusesWhatTheServerWould) {
  EXPECT_EQ(refusal("{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2, "
                    "scheduling: {schedulingPolicy: {gang: {minCount: 3}}}, template: {spec: "
                    "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}"),
            "Job \"j\": spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 3: must not "
            "be greater than parallelism (2)");
  EXPECT_EQ(
      refusal("{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {paralelism: 2}}"),
      "Job \"j\": unknown field \"spec.paralelism\"");
  EXPECT_EQ(refusal("{apiVersion: batch/v1, kind: Jop, metadata: {name: j}}"),
            "Jop \"j\": there is no such kind in batch/v1");
  EXPECT_EQ(refusal("{kind: Job}"), "a document needs kind, apiVersion and metadata.name");
  EXPECT_EQ(refusal("\n---\n"), "there is no document in it");
  EXPECT_EQ(
      refusal("{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {scheduling: "
              "{policy: {gang: {}}, schedulingPolicy: 3}}}"),
      "Job \"j\": spec.scheduling.schedulingPolicy is said twice, under an old name and a new one");
}

TEST(Manifest, SaysWhyAJobIsNotGrouped) {
  const auto notes = [](std::string_view spec, const ManifestOptions& options = {}) {
    return compiled(fmt::format("{{apiVersion: batch/v1, kind: Job, metadata: {{name: j}}, spec: "
                                "{{template: {{spec: {{restartPolicy: Never, {} containers: "
                                "[{{name: c, image: i}}]}}}}}}}}",
                                spec),
                    options)
        .notes;
  };
  EXPECT_EQ(notes("schedulingGroup: {podGroupName: mine},"),
            std::vector<std::string>{"Job \"j\": not grouped: its pods name a group "
                                     "(spec.template.spec.schedulingGroup)"});
  EXPECT_EQ(notes("", {.jobs = {.group_all = false}}),
            std::vector<std::string>{"Job \"j\": not grouped: it does not say spec.scheduling"});
  EXPECT_EQ(notes(""),
            std::vector<std::string>{"Job \"j\": names end in a hash of the uid, which a server "
                                     "gives: theirs will differ"});
}

TEST(Manifest, NamesWithDotsStayWhole) {
  const CompiledManifest out = compiled(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {muster.dev/run-time: "
      "5s}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}");
  ASSERT_EQ(out.documents.size(), 3U);
  EXPECT_EQ(api::to_text(*api::find_path(out.documents.front(), "metadata.annotations")),
            R"({"muster.dev/run-time":"5s"})");
}

TEST(Manifest, AJobSetBecomesItsTree) {
  const CompiledManifest out = compiled(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js, namespace: ml, uid: u}
spec:
  scheduling:
    schedulingPolicy: {gang: {}}
    replicatedJobs:
    - targetReplicatedJobs: [driver]
    - targetReplicatedJobs: [workers]
      job: {schedulingConstraints: {topology: [{key: rack}]}}
  replicatedJobs:
  - name: driver
    template: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}
  - name: workers
    replicas: 2
    template:
      spec: {parallelism: 4, completions: 4, template: {spec: {containers: [{name: c, image: i}]}}}
)");
  const std::string name(
      api::find_string(*api::find_path(out.documents.at(1), "metadata"), "name"));
  EXPECT_EQ(print_tree(out),
            fmt::format("JobSet js\n"
                        "└─ Workload {0}\n"
                        "   └─ CompositePodGroup {0}-root: gang of 2 groups\n"
                        "      ├─ PodGroup {0}-driver: gang of 1\n"
                        "      │  └─ 1 pod of JobSet ml/js\n"
                        "      └─ CompositePodGroup {0}-workers: gang of 2 groups\n"
                        "         ├─ PodGroup {0}-workers-0: gang of 4, within one rack\n"
                        "         │  └─ 4 pods of JobSet ml/js\n"
                        "         └─ PodGroup {0}-workers-1: gang of 4, within one rack\n"
                        "            └─ 4 pods of JobSet ml/js\n",
                        name));
  EXPECT_EQ(refusal("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: js}, "
                    "spec: {scheduling: {replicatedJobs: [{targetReplicatedJobs: [b]}]}, "
                    "replicatedJobs: [{name: a, template: {spec: {template: {spec: {containers: "
                    "[{name: c, image: i}]}}}}}]}}"),
            "JobSet \"js\": [spec.scheduling.replicatedJobs[0].targetReplicatedJobs[0]: Invalid "
            "value: \"b\": invalid replicatedJob name 'b' does not appear in .spec.ReplicatedJobs, "
            "spec.scheduling.replicatedJobs: Required value: replicatedJob 'a' is not targeted]");
}

TEST(Manifest, ACronJobShowsWhatEachOfItsJobsGets) {
  const CompiledManifest out = compiled(R"(
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: ml}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      parallelism: 4
      completions: 4
      scheduling: {schedulingPolicy: {gang: {}}}
      template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
)");
  ASSERT_EQ(out.documents.size(), 3U);
  const std::string tree = print_tree(out);
  EXPECT_TRUE(tree.starts_with("CronJob nightly\n└─ Workload nightly-0-")) << tree;
  EXPECT_NE(tree.find("gang of 4"), std::string::npos) << tree;
  EXPECT_EQ(out.notes.front(),
            "CronJob \"nightly\": each of its Jobs gets such objects; nightly-0 stands for "
            "<nightly>-<time of the run>");
}

}  // namespace
}  // namespace muster::workload
