#include <fmt/format.h>

#include "api/validation/composite_pod_group.h"
#include "api/validation/group_admission.h"
#include "api/validation/pod_group.h"
#include "api/validation/workload.h"
#include "api/validation/workloads_testing.h"

// Manifests, good and bad, each with what a server says to it.
namespace muster::api {
namespace {

constexpr std::string_view kV2 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: mesh-sim, namespace: lab}
spec:
  controllerRef: {apiGroup: batch, kind: Job, name: mesh-sim}
  podGroupTemplates:
  - name: solver
    priorityClassName: train-high
    schedulingPolicy: {gang: {minCount: 6}}
    schedulingConstraints: {topology: [{key: example.com/rack}]}
    disruptionMode: {all: {}}
  - name: viewer
    priorityClassName: train-high
    schedulingPolicy: {basic: {}}
)";
constexpr std::string_view kV3 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: mesh-sim-solver-0, namespace: lab}
spec:
  workloadRef: {workloadName: mesh-sim, templateName: solver}
  schedulingPolicy: {gang: {minCount: 6}}
  schedulingConstraints: {topology: [{key: example.com/rack}]}
  disruptionMode: {all: {}}
  priorityClassName: train-high
)";
constexpr std::string_view kV4 = R"(
apiVersion: scheduling.k8s.io/v1alpha3
kind: PodGroup
metadata: {generateName: adhoc-, namespace: lab}
spec: {schedulingPolicy: {basic: {}}}
)";
constexpr std::string_view kV6 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: serve, namespace: lab}
spec:
  compositePodGroupTemplates:
  - name: root
    schedulingPolicy: {gang: {minGroupCount: 2}}
    schedulingConstraints: {topology: [{key: example.com/block}]}
    compositePodGroupTemplates:
    - name: replica
      schedulingPolicy: {basic: {}}
      disruptionMode: {all: {}}
      podGroupTemplates:
      - {name: prefill, schedulingPolicy: {gang: {minCount: 4}}}
      - {name: decode, schedulingPolicy: {gang: {minCount: 8}}}
)";
constexpr std::string_view kV7 = R"(
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: serve-root, namespace: lab}
spec:
  workloadRef: {workloadName: serve, templateName: root}
  schedulingPolicy: {gang: {minGroupCount: 2}}
  schedulingConstraints: {topology: [{key: example.com/block}]}
---
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: serve-replica-0, namespace: lab}
spec:
  parentCompositePodGroupName: serve-root
  workloadRef: {workloadName: serve, templateName: replica}
  schedulingPolicy: {basic: {}}
  disruptionMode: {all: {}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: serve-replica-0-prefill, namespace: lab}
spec:
  parentCompositePodGroupName: serve-replica-0
  workloadRef: {workloadName: serve, templateName: prefill}
  schedulingPolicy: {gang: {minCount: 4}}
)";
constexpr std::string_view kV8 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: fabric-job, namespace: lab}
spec:
  schedulingPolicy: {gang: {minCount: 2}}
  resourceClaims:
  - {name: fabric, resourceClaimTemplateName: fabric-channel}
  - {name: store, resourceClaimName: shared-scratch}
---
apiVersion: v1
kind: Pod
metadata: {name: fabric-0, namespace: lab}
spec:
  schedulingGroup: {podGroupName: fabric-job}
  resourceClaims: [{name: fabric, resourceClaimTemplateName: fabric-channel}]
  containers: [{name: main, image: registry.example.com/app:1, resources: {claims: [{name: fabric}]}}]
)";
constexpr std::string_view kV10 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata:
  name: tune-h1
  namespace: lab
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: tune, uid: u-job, controller: true, blockOwnerDeletion: true}]
spec:
  controllerRef: {apiGroup: batch, kind: Job, name: tune}
  podGroupTemplates:
  - name: tune-pgt-0
    schedulingPolicy: {gang: {minCount: 4}}
    schedulingConstraints: {topology: [{key: topology.kubernetes.io/zone}]}
    disruptionMode: {all: {}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata:
  name: tune-h1-tune-pgt-0-h2
  namespace: lab
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: tune, uid: u-job, controller: true, blockOwnerDeletion: true}
  - {apiVersion: scheduling.k8s.io/v1beta1, kind: Workload, name: tune-h1, uid: u-wl}
spec:
  workloadRef: {workloadName: tune-h1, templateName: tune-pgt-0}
  schedulingPolicy: {gang: {minCount: 4}}
  schedulingConstraints: {topology: [{key: topology.kubernetes.io/zone}]}
  disruptionMode: {all: {}}
)";
constexpr std::string_view kI1 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: both, namespace: lab}
spec: {schedulingPolicy: {basic: {}, gang: {minCount: 2}}}
)";
constexpr std::string_view kI2 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: counts, namespace: lab}
spec:
  podGroupTemplates:
  - {name: a, schedulingPolicy: {gang: {minCount: 0}}}
  - {name: b, schedulingPolicy: {gang: {minCount: -1}}}
)";
constexpr std::string_view kI3 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: empty, namespace: lab}
spec: {podGroupTemplates: []}
)";
constexpr std::string_view kI4 = R"(
apiVersion: scheduling.k8s.io/v1alpha3
kind: Workload
metadata: {name: dups, namespace: lab}
spec:
  compositePodGroupTemplates:
  - name: top
    schedulingPolicy: {basic: {}}
    podGroupTemplates: [{name: leaf, schedulingPolicy: {basic: {}}}, {name: leaf, schedulingPolicy: {basic: {}}}]
    compositePodGroupTemplates:
    - {name: top, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: other, schedulingPolicy: {basic: {}}}]}
)";
constexpr std::string_view kI5 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: deep, namespace: lab}
spec:
  compositePodGroupTemplates:
  - name: l1
    schedulingPolicy: {basic: {}}
    compositePodGroupTemplates:
    - name: l2
      schedulingPolicy: {basic: {}}
      compositePodGroupTemplates:
      - name: l3
        schedulingPolicy: {basic: {}}
        compositePodGroupTemplates:
        - {name: l4, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: leaf, schedulingPolicy: {basic: {}}}]}
)";
constexpr std::string_view kI6 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: odd, namespace: lab}
spec:
  compositePodGroupTemplates:
  - {name: full, priorityClassName: train-high, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: leaf, schedulingPolicy: {basic: {}}}]}
  - {name: hollow, priorityClassName: train-high, schedulingPolicy: {basic: {}}}
)";
constexpr std::string_view kI7 = R"(
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: lost, namespace: lab}
spec:
  schedulingPolicy: {gang: {minGroupCount: 1}}
  schedulingConstraints: {topology: [{key: example.com/block}, {key: example.com/rack}]}
)";
constexpr std::string_view kI9 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: orphan, namespace: lab}
spec:
  parentCompositePodGroupName: serve-root
  schedulingPolicy: {basic: {}}
  schedulingConstraints: {topology: [{key: "rack!"}]}
  resourceClaims: [{name: c, resourceClaimName: x, resourceClaimTemplateName: "y"}]
)";
constexpr std::string_view kI15 = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: old-shape, namespace: lab}
spec:
  podGroupTemplateRef: {workload: {workloadName: mesh-sim, podGroupTemplateName: solver}}
  schedulingPolicy: {gang: {minCount: 2}}
status: {scheduledPods: 2}
)";

const Gates kAll = Gates().with(Gate::DRAWorkloadResourceClaims);
const std::vector<PriorityClassFacts> kClasses = {
    {.name = "train-high", .value = 100000, .preemption_policy = "PreemptLowerPriority"}};

struct Manifest {
  std::string kind;
  Json document;
  std::vector<std::string> unknown;
};

// The documents of our kinds, decoded and defaulted; pods are left out.
std::vector<Manifest> manifests(std::string_view yaml) {
  std::vector<Manifest> out;
  for (const std::string_view text : split_yaml_documents(yaml)) {
    Result<ParsedJson> parsed = parse_yaml(text);
    EXPECT_TRUE(parsed) << text;
    std::string kind(find_string(parsed->value, "kind"));
    if (kind == "Pod") continue;
    const std::string_view version = find_string(parsed->value, "apiVersion");
    const std::string package = "scheduling" + std::string(version.substr(version.find('/')));
    const schema::Message& message = schema::message(package, kind);
    Result<Decoded> result = decode(message, std::move(*parsed));
    EXPECT_TRUE(result) << text;
    apply_defaults(message, result->document);
    out.push_back({std::move(kind), std::move(result->document), std::move(result->unknown)});
  }
  return out;
}

// What a server says to a create: a refusal of admission, or the causes of validation.
Causes created(Manifest& manifest) {
  Json& document = manifest.document;
  if (const Json* prefix = find_path(document, "metadata.generateName"))
    document.as_object()["metadata"].as_object()["name"] =
        std::string(prefix->as_string()) + "x7k2p";
  if (manifest.kind == "Workload") return causes(validate_workload(document, kAll));
  const bool leaf = manifest.kind == "PodGroup";
  const Result<void> settled = resolve_group_priority(
      document, kClasses, leaf ? kPodGroupNoun : kCompositePodGroupNoun, kAll);
  if (!settled) return {settled.error().message};
  return causes(leaf ? validate_pod_group(document, kAll)
                     : validate_composite_pod_group(document, kAll));
}
Causes created(std::string_view yaml) {
  Causes all;
  for (Manifest& manifest : manifests(yaml))
    for (std::string& cause : created(manifest)) all.push_back(std::move(cause));
  return all;
}
Json stored(std::string_view yaml, std::size_t at = 0) {
  std::vector<Manifest> all = manifests(yaml);
  EXPECT_EQ(created(all.at(at)), Causes{});
  return all.at(at).document;
}
JsonObject& spec_of(Json& document) { return document.as_object()["spec"].as_object(); }

TEST(Examples, TheValidOnesAreAccepted) {
  for (const std::string_view yaml : {kV2, kV3, kV4, kV6, kV7, kV8, kV10})
    EXPECT_EQ(created(yaml), Causes{}) << yaml;
}

TEST(Examples, WhatIsStoredIsComplete) {
  Json v3 = stored(kV3);
  EXPECT_EQ(spec_of(v3)["priority"], Json(100000));
  EXPECT_EQ(spec_of(v3)["preemptionPolicy"], Json("PreemptLowerPriority"));
  Json v4 = stored(kV4);
  EXPECT_EQ(spec_of(v4)["disruptionMode"], Json(JsonObject{{"single", JsonObject()}}));
  EXPECT_EQ(spec_of(v4)["priority"], Json(0));
}

TEST(Examples, HierarchyNeedsItsGate) {
  Manifest v6 = std::move(manifests(kV6).front());
  spec_of(v6.document).erase("compositePodGroupTemplates");
  EXPECT_EQ(created(v6), created(kI3));
  EXPECT_EQ(workload_warnings(manifests(kV6).front().document).size(), 2U);
}

TEST(Examples, V12StatusPatch) {
  const Json old = stored(kV3);
  Json now = old;
  now.as_object()["status"] = JsonObject{
      {"conditions", JsonArray{JsonObject{{"type", "PodGroupInitiallyScheduled"},
                                          {"status", "True"},
                                          {"reason", "Scheduled"},
                                          {"message", ""},
                                          {"lastTransitionTime", "2026-08-20T10:00:00Z"}}}}};
  EXPECT_EQ(causes(validate_pod_group_status_update(now, old)), Causes{});
}

TEST(Examples, V13AndI12Updates) {
  const Json v3 = stored(kV3);
  Json now = v3;
  spec_of(now)["schedulingPolicy"] = JsonObject{{"gang", JsonObject{{"minCount", 8}}}};
  EXPECT_EQ(causes(validate_pod_group_update(now, v3, kAll)), Causes{});
  spec_of(now)["schedulingPolicy"] = JsonObject{{"basic", JsonObject()}};
  EXPECT_EQ(causes(validate_pod_group_update(now, v3, kAll)),
            (Causes{"Invalid spec.schedulingPolicy.basic: Invalid value: null: field is immutable",
                    "Invalid spec.schedulingPolicy.gang: Invalid value: null: field cannot be "
                    "cleared once set"}));

  const Json v6 = stored(kV6);
  now = v6;
  spec_of(now)["compositePodGroupTemplates"].as_array()[0].as_object()["schedulingPolicy"] =
      JsonObject{{"gang", JsonObject{{"minGroupCount", 3}}}};
  EXPECT_EQ(causes(validate_workload_update(now, v6, kAll)), Causes{});

  const Json root = stored(kV7, 0);
  now = root;
  spec_of(now)["schedulingPolicy"] = JsonObject{{"gang", JsonObject{{"minGroupCount", 3}}}};
  EXPECT_EQ(causes(validate_composite_pod_group_update(now, root,
                                                       kAll.without(Gate::MutableMinGroupCount))),
            Causes{"Invalid spec.schedulingPolicy: Invalid value: null: field is immutable"});

  const Json v2 = stored(kV2);
  now = v2;
  JsonArray& templates = spec_of(now)["podGroupTemplates"].as_array();
  JsonObject third = templates[1].as_object();
  third["name"] = "third";
  templates.push_back(third);
  EXPECT_EQ(causes(validate_workload_update(now, v2, kAll)),
            Causes{"Forbidden spec.podGroupTemplates[2]: Forbidden: item may not be added"});
}

TEST(Examples, TheInvalidOnesAreRefusedFieldByField) {
  EXPECT_EQ(created(kI1),
            Causes{"Invalid spec.schedulingPolicy: Invalid value: \"{basic, gang}\": must specify "
                   "exactly one of: `basic`, `gang`"});
  EXPECT_EQ(created(kI2),
            (Causes{"Required spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required "
                    "value",
                    "Invalid spec.podGroupTemplates[1].schedulingPolicy.gang.minCount: Invalid "
                    "value: -1: must be greater than or equal to 1"}));
  EXPECT_EQ(created(kI3),
            Causes{"Invalid spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, "
                   "`compositePodGroupTemplates`"});
  EXPECT_EQ(created(kI4),
            (Causes{"Duplicate spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]."
                    "name: Duplicate value: \"top\"",
                    "Duplicate spec.compositePodGroupTemplates[0].podGroupTemplates[1]: Duplicate "
                    "value: {\"name\":\"leaf\",\"schedulingPolicy\":{\"basic\":{}},"
                    "\"schedulingConstraints\":null}"}));
  ASSERT_EQ(created(kI5).size(), 1U);
  EXPECT_TRUE(created(kI5)[0].starts_with("Invalid spec.compositePodGroupTemplates[0]: "));
  EXPECT_TRUE(created(kI5)[0].ends_with(": maximum template hierarchy depth is 4"));
  EXPECT_EQ(created(kI6),
            (Causes{"Invalid spec: Invalid value: null: all priority and priorityClassName values "
                    "must be identical, detected multiple values",
                    "Invalid spec.compositePodGroupTemplates[1]: Invalid value: \"hollow\": must "
                    "have at least one child PodGroupTemplate or CompositePodGroupTemplate"}));
  EXPECT_EQ(created(kI7),
            (Causes{"Required spec.workloadRef: Required value",
                    "TooMany spec.schedulingConstraints.topology: Too many: 2: must have at most 1 "
                    "item"}));
  EXPECT_EQ(created(kI9),
            (Causes{"Required spec.workloadRef: Required value: must be set when "
                    "parentCompositePodGroupName is set",
                    "Invalid spec.schedulingConstraints.topology[0].key: Invalid value: "
                    "\"rack!\": " +
                        kBadNamePart,
                    "Invalid spec.resourceClaims[0]: Invalid value: \"{resourceClaimName, "
                    "resourceClaimTemplateName}\": must specify exactly one of: "
                    "`resourceClaimName`, `resourceClaimTemplateName`"}));
}

TEST(Examples, I1TheWholeAnswer) {
  Kind kind;
  kind.group = "scheduling.k8s.io";
  kind.kind = "PodGroup";
  const Error error =
      invalid_object(kind, "both", validate_pod_group(manifests(kI1).front().document, kAll));
  EXPECT_EQ(error.message,
            "PodGroup.scheduling.k8s.io \"both\" is invalid: spec.schedulingPolicy: Invalid value: "
            "\"{basic, gang}\": must specify exactly one of: `basic`, `gang`");
}

TEST(Examples, I10Priorities) {
  const auto group = [](std::string_view priority) {
    return created(
        fmt::format("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: "
                    "{{name: g, namespace: lab}}\nspec: {{schedulingPolicy: {{basic: "
                    "{{}}}}, {}}}",
                    priority));
  };
  EXPECT_EQ(group("priorityClassName: nope"), Causes{"no PriorityClass with name nope was found"});
  EXPECT_EQ(group("priorityClassName: train-high, priority: 7"),
            Causes{"priority set in the pod group (7) must match the priority computed (100000) "
                   "based on the priority class set in the spec"});
}

TEST(Examples, I15FieldsOfTheProposalsAreUnknown) {
  std::vector<Manifest> all = manifests(kI15);
  EXPECT_EQ(all[0].unknown, (std::vector<std::string>{"unknown field \"spec.podGroupTemplateRef\"",
                                                      "unknown field \"status.scheduledPods\""}));
  EXPECT_EQ(created(all[0]), Causes{});
}

TEST(Examples, I16BadStatus) {
  const Json old = stored(kV8);
  Json now = old;
  now.as_object()["status"] = JsonObject{
      {"conditions",
       JsonArray{JsonObject{{"type", "PodGroupInitiallyScheduled"}, {"status", "Maybe"}}}},
      {"resourceClaimStatuses",
       JsonArray{JsonObject{{"name", "unknown"}, {"resourceClaimName", "abc"}}}}};
  EXPECT_EQ(causes(validate_pod_group_status_update(now, old)),
            (Causes{"NotSupported status.conditions[0].status: Unsupported value: \"Maybe\": "
                    "supported values: \"False\", \"True\", \"Unknown\"",
                    "Required status.conditions[0].lastTransitionTime: Required value",
                    "Required status.conditions[0].reason: Required value",
                    "Invalid status.resourceClaimStatuses[0].name: Invalid value: \"unknown\": "
                    "must match the name of an entry in `spec.resourceClaims`"}));
}

}  // namespace
}  // namespace muster::api
