#include "api/validation/group_binding.h"

#include <fmt/format.h>

#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

Causes check(std::string_view spec) {
  return causes(validate_group_binding(
      decoded("muster/v1alpha1", "GroupBinding",
              fmt::format("metadata: {{name: train, namespace: lab}}\nspec: {}", spec))));
}

struct Case {
  std::string_view rule;
  std::string_view spec;
  Causes want;
};

TEST(GroupBinding, EveryRuleHasItsSentence) {
  const std::vector<Case> cases = {
      {"smallest",
       "{root: {kind: PodGroup, name: train}, pods: [{name: p, uid: u, nodeName: n1}]}",
       {}},
      {"everything",
       "{root: {kind: CompositePodGroup, name: train, uid: r}, "
       "pods: [{name: p, uid: u, resourceVersion: '12', nodeName: n1}], "
       "nominations: [{name: q, uid: v, nodeName: n1}], "
       "conditions: [{kind: PodGroup, name: g, uid: w, condition: {type: "
       "PodGroupInitiallyScheduled, status: 'True', reason: Scheduled}}, "
       "{kind: CompositePodGroup, name: train, condition: {type: DisruptionTarget, status: "
       "'False', reason: Fine, message: all is well}}]}",
       {}},
      {"empty",
       "{}",
       {"Required spec.root.kind: Required value", "Required spec.root.name: Required value",
        "Required spec.pods: Required value: one of pods, nominations and conditions must be "
        "given"}},
      {"kind of root",
       "{root: {kind: Job, name: train}, pods: [{name: p, uid: u, nodeName: n1}]}",
       {"NotSupported spec.root.kind: Unsupported value: \"Job\": supported values: "
        "\"CompositePodGroup\", \"PodGroup\""}},
      {"parts of a pod",
       "{root: {kind: PodGroup, name: train}, pods: [{}]}",
       {"Required spec.pods[0].name: Required value", "Required spec.pods[0].uid: Required value",
        "Required spec.pods[0].nodeName: Required value"}},
      {"formats of a pod",
       "{root: {kind: PodGroup, name: train}, pods: [{name: P, uid: u, resourceVersion: x, "
       "nodeName: n/1}]}",
       {"Invalid spec.pods[0].name: Invalid value: \"P\": " + kBadSubdomain,
        "Invalid spec.pods[0].resourceVersion: Invalid value: \"x\": must be a resourceVersion of "
        "the pod",
        "Invalid spec.pods[0].nodeName: Invalid value: \"n/1\": " + kBadSubdomain}},
      {"a pod twice",
       "{root: {kind: PodGroup, name: train}, pods: [{name: p, uid: u, nodeName: n1}], "
       "nominations: [{name: p, uid: u, nodeName: n2}]}",
       {"Duplicate spec.nominations[0].name: Duplicate value: \"p\""}},
      {"a condition twice",
       "{root: {kind: PodGroup, name: g}, conditions: [{kind: PodGroup, name: g, condition: {type: "
       "DisruptionTarget, status: 'True', reason: A}}, {kind: PodGroup, name: g, condition: {type: "
       "DisruptionTarget, status: 'False', reason: B}}]}",
       {"Duplicate spec.conditions[1]: Duplicate value: \"DisruptionTarget\""}},
      {"a condition of the other kind",
       "{root: {kind: PodGroup, name: g}, conditions: [{kind: PodGroup, name: g, condition: {type: "
       "CompositePodGroupInitiallyScheduled, status: 'maybe', reason: A}}]}",
       {"NotSupported spec.conditions[0].condition.status: Unsupported value: \"maybe\": supported "
        "values: \"False\", \"True\", \"Unknown\"",
        "NotSupported spec.conditions[0].condition.type: Unsupported value: "
        "\"CompositePodGroupInitiallyScheduled\": supported values: \"DisruptionTarget\", "
        "\"PodGroupInitiallyScheduled\""}},
      {"no condition",
       "{root: {kind: PodGroup, name: g}, conditions: [{kind: PodGroup, name: g}]}",
       {"Required spec.conditions[0].condition.type: Required value: is required",
        "Required spec.conditions[0].condition.status: Required value",
        "Required spec.conditions[0].condition.reason: Required value"}},
  };
  for (const Case& c : cases) EXPECT_EQ(check(c.spec), c.want) << c.rule;
}

TEST(GroupBinding, HasABound) {
  Json document = decoded("muster/v1alpha1", "GroupBinding",
                          "metadata: {name: train, namespace: lab}\n"
                          "spec: {root: {kind: PodGroup, name: train}}");
  JsonArray& pods = ensure_array(ensure_object(document.get_object(), "spec"), "pods");
  for (std::size_t i = 0; i <= kGroupBindingItemsMax; ++i)
    pods.push_back(JsonObject{{"name", fmt::format("p{}", i)}, {"uid", "u"}, {"nodeName", "n"}});
  EXPECT_EQ(causes(validate_group_binding(document)),
            Causes{"TooMany spec.pods: Too many: 10001: must have at most 10000 items"});
  pods.pop_back();
  EXPECT_EQ(causes(validate_group_binding(document)), Causes{});
}

}  // namespace
}  // namespace muster::api
