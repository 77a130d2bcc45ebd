#include "workload/stamper.h"

#include <gtest/gtest.h>

#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

using api::Json;

const std::string_view kTree = R"(
metadata:
  name: w
  namespace: ns
  uid: w-uid
  annotations: {note: mine, scheduling.muster.dev/team: vision}
spec:
  compositePodGroupTemplates:
  - name: root
    schedulingPolicy: {gang: {minGroupCount: 2}}
    schedulingConstraints: {topology: [{key: zone}]}
    disruptionMode: {all: {}}
    priorityClassName: high
    priority: 10
    preemptionPolicy: Never
    podGroupTemplates:
    - name: driver
      schedulingPolicy: {basic: {}}
      priorityClassName: high
      priority: 10
    compositePodGroupTemplates:
    - name: workers
      schedulingPolicy: {gang: {minGroupCount: 3}}
      podGroupTemplates:
      - name: job
        schedulingPolicy: {gang: {minCount: 4}}
        resourceClaims: [{name: gpus, resourceClaimName: shared}]
        disruptionMode: {single: {}}
)";

TEST(Stamper, FindsTemplatesAtAnyDepth) {
  const Json workload = yaml(kTree);
  const Stamper stamper(workload);
  EXPECT_EQ(std::vector<std::string_view>(stamper.templates().begin(), stamper.templates().end()),
            (std::vector<std::string_view>{"root", "workers", "job", "driver"}));
  ASSERT_NE(stamper.find("job"), nullptr);
  EXPECT_EQ(stamper.find("job")->parent, "workers");
  EXPECT_FALSE(stamper.find("job")->composite);
  EXPECT_TRUE(stamper.find("workers")->composite);
  EXPECT_EQ(stamper.find("root")->parent, "");
  EXPECT_EQ(stamper.find("nobody"), nullptr);
}

TEST(Stamper, CopiesEverythingTheTemplateSays) {
  const Json workload = yaml(kTree);
  const Stamper stamper(workload);
  expect_document(stamper.composite({.name = "w-root", .template_name = "root"}), R"(
metadata: {name: w-root, namespace: ns, annotations: {scheduling.muster.dev/team: vision}}
spec:
  workloadRef: {workloadName: w, templateName: root}
  schedulingPolicy: {gang: {minGroupCount: 2}}
  schedulingConstraints: {topology: [{key: zone}]}
  disruptionMode: {all: {}}
  priorityClassName: high
  priority: 10
  preemptionPolicy: Never
)");
  expect_document(stamper.pod_group({.name = "w-job-0",
                                     .template_name = "job",
                                     .parent = "w-workers",
                                     .owners = {workload_owner(workload)}}),
                  R"(
metadata:
  name: w-job-0
  namespace: ns
  annotations: {scheduling.muster.dev/team: vision}
  ownerReferences: [{apiVersion: scheduling.k8s.io/v1beta1, kind: Workload, name: w, uid: w-uid}]
spec:
  parentCompositePodGroupName: w-workers
  workloadRef: {workloadName: w, templateName: job}
  schedulingPolicy: {gang: {minCount: 4}}
  resourceClaims: [{name: gpus, resourceClaimName: shared}]
  disruptionMode: {single: {}}
)");
}

TEST(Stamper, PartsOfWhatIsDisruptedAsAWholeAreToo) {
  const Json workload = yaml(kTree);
  const Stamper stamper(workload);
  const Json group = *stamper.pod_group({.name = "w-driver", .template_name = "driver"});
  EXPECT_EQ(api::to_text(*api::find_path(group, "spec.disruptionMode")), R"({"all":{}})");
  const Json workers = *stamper.composite({.name = "w-workers", .template_name = "workers"});
  EXPECT_EQ(api::to_text(*api::find_path(workers, "spec.disruptionMode")), R"({"all":{}})");
}

TEST(Stamper, PartsOfPartsOfWhatIsDisruptedAsAWholeAreToo) {
  const Json workload = yaml(R"(
metadata: {name: w, namespace: ns}
spec:
  compositePodGroupTemplates:
  - name: root
    disruptionMode: {all: {}}
    compositePodGroupTemplates:
    - name: workers
      podGroupTemplates:
      - name: job
)");
  const Stamper stamper(workload);
  const Json group = *stamper.pod_group({.name = "w-job", .template_name = "job"});
  const Json* mode = api::find_path(group, "spec.disruptionMode");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(api::to_text(*mode), R"({"all":{}})");
}

TEST(Stamper, RefusesATemplateOfTheOtherKind) {
  const Json workload = yaml(kTree);
  const Stamper stamper(workload);
  EXPECT_EQ(stamper.pod_group({.name = "x", .template_name = "root"}).error().message,
            "template \"root\" of Workload \"w\" is one of groups");
  EXPECT_EQ(stamper.composite({.name = "x", .template_name = "job"}).error().message,
            "template \"job\" of Workload \"w\" is one of pods");
  EXPECT_EQ(stamper.pod_group({.name = "x", .template_name = "nobody"}).error().message,
            "Workload \"w\" has no template \"nobody\"; it has: root, workers, job, driver");
}

TEST(Stamper, CopiesDoNotShareWithTheTemplate) {
  Json workload = yaml(kTree);
  const Stamper stamper(workload);
  Json group = *stamper.pod_group({.name = "x", .template_name = "job"});
  group.as_object()["spec"].as_object()["schedulingPolicy"] = nullptr;
  EXPECT_EQ(workload, yaml(kTree));
}

}  // namespace
}  // namespace muster::workload
