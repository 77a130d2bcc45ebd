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
      {"a condition of its kind",
       "{root: {kind: PodGroup, name: g}, conditions: [{kind: CompositePodGroup, name: g, "
       "condition: "
       "{type: CompositePodGroupInitiallyScheduled, status: 'True', reason: A}}, {kind: PodGroup, "
       "name: g, condition: {type: DisruptionTarget, status: Unknown, reason: B_}}, {kind: "
       "PodGroup, "
       "name: h, condition: {type: DisruptionTarget, status: 'False', reason: 'B:c,D'}}]}",
       {}},
      {"parts of a condition",
       "{root: {kind: PodGroup, name: g}, conditions: [{kind: Job, name: '', condition: {type: "
       "DisruptionTarget, status: 'True', reason: 'a:', observedGeneration: -1}}]}",
       {"NotSupported spec.conditions[0].kind: Unsupported value: \"Job\": supported values: "
        "\"CompositePodGroup\", \"PodGroup\"",
        "Required spec.conditions[0].name: Required value",
        "Invalid spec.conditions[0].condition.observedGeneration: Invalid value: -1: must be "
        "greater "
        "than or equal to zero",
        "Invalid spec.conditions[0].condition.reason: Invalid value: \"a:\": a condition reason "
        "must "
        "start with alphabetic character, optionally followed by a string of alphanumeric "
        "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  "
        "or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for "
        "validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"}},
      {"no condition",
       "{root: {kind: PodGroup, name: g}, conditions: [{kind: PodGroup, name: g}]}",
       {"Required spec.conditions[0].condition.type: Required value: is required",
        "Required spec.conditions[0].condition.status: Required value",
        "Required spec.conditions[0].condition.reason: Required value"}},
  };
  for (const Case& c : cases) EXPECT_EQ(check(c.spec), c.want) << c.rule;
}

TEST(GroupBinding, WordsOfConditionsHaveBounds) {
  const auto errors_of = [](std::size_t reason, std::size_t message) {
    return check(fmt::format(
        "{{root: {{kind: PodGroup, name: g}}, conditions: [{{kind: PodGroup, name: g, condition: "
        "{{type: DisruptionTarget, status: 'True', reason: {}, message: {}}}}}]}}",
        std::string(reason, 'r'), std::string(message, 'm')));
  };
  EXPECT_EQ(errors_of(1024, 32768), Causes{});
  EXPECT_EQ(errors_of(1025, 32769),
            (Causes{"TooLong spec.conditions[0].condition.reason: Too long: may not be more than "
                    "1024 bytes",
                    "TooLong spec.conditions[0].condition.message: Too long: may not be more than "
                    "32768 bytes"}));
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
  JsonArray& conditions = ensure_array(ensure_object(document.get_object(), "spec"), "conditions");
  for (std::size_t i = 0; i <= kGroupBindingItemsMax; ++i)
    conditions.push_back(JsonObject{
        {"kind", "PodGroup"},
        {"name", fmt::format("g{}", i)},
        {"condition",
         JsonObject{{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "R"}}}});
  EXPECT_EQ(causes(validate_group_binding(document)),
            Causes{"TooMany spec.conditions: Too many: 10001: must have at most 10000 items"});
  conditions.pop_back();
  EXPECT_EQ(causes(validate_group_binding(document)), Causes{});
}

}  // namespace
}  // namespace muster::api
