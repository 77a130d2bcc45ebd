#include "api/validation/composite_pod_group.h"

#include <fmt/format.h>

#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

const std::string kFixed = ": Invalid value: null: field is immutable";
constexpr std::string_view kRef = "workloadRef: {workloadName: w, templateName: t}";

Json composite(std::string_view spec, std::string_view status = "{}") {
  Json document = decoded(
      "scheduling/v1alpha3", "CompositePodGroup",
      fmt::format("metadata: {{name: c, namespace: lab}}\nspec: {}\nstatus: {}", spec, status));
  apply_defaults(schema::message("scheduling/v1alpha3", "CompositePodGroup"), document);
  return document;
}
// A spec with a workloadRef and these members.
std::string with_ref(std::string_view members) { return fmt::format("{{{}, {}}}", kRef, members); }
Causes create(std::string_view spec) {
  return causes(validate_composite_pod_group(composite(spec), Gates()));
}
Causes update(std::string_view old_spec, std::string_view new_spec, const Gates& gates) {
  return causes(
      validate_composite_pod_group_update(composite(new_spec), composite(old_spec), gates));
}

struct Case {
  std::string_view rule;
  std::string spec;
  Causes want;
};

TEST(CompositePodGroup, EveryRuleHasItsSentence) {
  const std::vector<Case> cases = {
      {"fine", with_ref("schedulingPolicy: {gang: {minGroupCount: 1}}"), {}},
      {"C2", "{schedulingPolicy: {basic: {}}}", {"Required spec.workloadRef: Required value"}},
      {"C3",
       "{workloadRef: {workloadName: W}, schedulingPolicy: {basic: {}}}",
       {"Invalid spec.workloadRef.workloadName: Invalid value: \"W\": " + kBadSubdomain,
        "Required spec.workloadRef.templateName: Required value"}},
      {"C4",
       with_ref("parentCompositePodGroupName: P, schedulingPolicy: {basic: {}}"),
       {"Invalid spec.parentCompositePodGroupName: Invalid value: \"P\": " + kBadSubdomain}},
      {"C5 union",
       with_ref("schedulingPolicy: {}"),
       {"Invalid spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, "
        "`gang`"}},
      {"C5 count",
       with_ref("schedulingPolicy: {gang: {minGroupCount: 0}}"),
       {"Required spec.schedulingPolicy.gang.minGroupCount: Required value"}},
      {"C5 negative",
       with_ref("schedulingPolicy: {gang: {minGroupCount: -1}}"),
       {"Invalid spec.schedulingPolicy.gang.minGroupCount: Invalid value: -1: must be greater than "
        "or equal to 1"}},
      {"C6",
       with_ref("schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: ''}]}"),
       {"Required spec.schedulingConstraints.topology[0].key: Required value"}},
      {"C7",
       with_ref("schedulingPolicy: {basic: {}}, disruptionMode: {single: {}, all: {}}"),
       {"Invalid spec.disruptionMode: Invalid value: \"{single, all}\": must specify exactly one "
        "of: `single`, `all`"}},
      {"C8",
       with_ref("schedulingPolicy: {basic: {}}, priorityClassName: A, priority: 1000000001, "
                "preemptionPolicy: Maybe"),
       {"Invalid spec.priorityClassName: Invalid value: \"A\": " + kBadSubdomain,
        "Invalid spec.priority: Invalid value: 1000000001: must be less than or equal to "
        "1000000000",
        "NotSupported spec.preemptionPolicy: Unsupported value: \"Maybe\": supported values: "
        "\"Never\", \"PreemptLowerPriority\""}},
  };
  for (const Case& c : cases) EXPECT_EQ(create(c.spec), c.want) << c.rule;
}

TEST(CompositePodGroup, MetadataMustNameTheObjectAndItsNamespace) {  // C1
  EXPECT_EQ(causes(validate_composite_pod_group(
                decoded("scheduling/v1alpha3", "CompositePodGroup",
                        fmt::format("metadata: {{}}\nspec: {}",
                                    with_ref("schedulingPolicy: {basic: {}}, disruptionMode: {all: "
                                             "{}}"))),
                Gates())),
            (Causes{"Required metadata.name: Required value: name or generateName is required",
                    "Required metadata.namespace: Required value"}));
}

TEST(CompositePodGroup, NothingOfTheSpecMayChangeUpstream) {
  const Gates upstream = Gates().without(Gate::MutableMinGroupCount);
  const std::string gang = with_ref("schedulingPolicy: {gang: {minGroupCount: 2}}");
  EXPECT_EQ(update(gang, gang, upstream), Causes{});
  for (const std::string_view policy :
       {"schedulingPolicy: {gang: {minGroupCount: 3}}", "schedulingPolicy: {gang: {}}",
        "schedulingPolicy: {basic: {}}", "schedulingPolicy: {}"})
    EXPECT_EQ(update(gang, with_ref(policy), upstream),
              Causes{"Invalid spec.schedulingPolicy" + kFixed})
        << policy;
  EXPECT_EQ(
      update(gang, "{schedulingPolicy: {gang: {minGroupCount: 2}}}", upstream),
      (Causes{"Invalid spec.workloadRef" + kFixed, "Required spec.workloadRef: Required value"}));
  EXPECT_EQ(
      update(gang,
             "{parentCompositePodGroupName: P, workloadRef: {workloadName: v, templateName: "
             "t}, schedulingPolicy: {gang: {minGroupCount: 2}}, schedulingConstraints: {}, "
             "disruptionMode: {all: {}}, priorityClassName: A, priority: 1, "
             "preemptionPolicy: Never}",
             upstream),
      (Causes{"Invalid spec.parentCompositePodGroupName" + kFixed,
              "Invalid spec.workloadRef" + kFixed, "Invalid spec.schedulingConstraints" + kFixed,
              "Invalid spec.disruptionMode" + kFixed, "Invalid spec.priorityClassName" + kFixed,
              "Invalid spec.priority" + kFixed, "Invalid spec.preemptionPolicy" + kFixed}));
}

TEST(CompositePodGroup, TheMinimumMayChangeUnderOurGate) {
  const std::string gang = with_ref("schedulingPolicy: {gang: {minGroupCount: 2}}");
  EXPECT_EQ(update(gang, with_ref("schedulingPolicy: {gang: {minGroupCount: 1}}"), Gates()),
            Causes{});
  EXPECT_EQ(update(gang, with_ref("schedulingPolicy: {gang: {minGroupCount: -1}}"), Gates()),
            Causes{"Invalid spec.schedulingPolicy.gang.minGroupCount: Invalid value: -1: must be "
                   "greater than or equal to 1"});
  EXPECT_EQ(update(gang, with_ref("schedulingPolicy: {basic: {}}"), Gates()),
            Causes{"Invalid spec.schedulingPolicy" + kFixed});
}

TEST(CompositePodGroup, APreemptionPolicyWhoseGateIsOffMayOnlyStay) {
  const Gates off = Gates().without(Gate::PodGroupPreemptionPolicy);
  const std::string old = with_ref("schedulingPolicy: {basic: {}}, preemptionPolicy: Never");
  EXPECT_EQ(update(old, old, off), Causes{});
  EXPECT_EQ(update(old,
                   with_ref("schedulingPolicy: {basic: {}}, preemptionPolicy: "
                            "PreemptLowerPriority"),
                   off),
            (Causes{"Forbidden spec.preemptionPolicy: Forbidden",
                    "Invalid spec.preemptionPolicy" + kFixed}));
}

TEST(CompositePodGroup, StatusHoldsWellFormedConditions) {
  const std::string spec = with_ref("schedulingPolicy: {basic: {}}");
  EXPECT_EQ(causes(validate_composite_pod_group_status_update(
                composite(spec, "{conditions: [{type: A, status: 'False'}]}"), composite(spec))),
            (Causes{"Required status.conditions[0].lastTransitionTime: Required value",
                    "Required status.conditions[0].reason: Required value"}));
}

TEST(CompositePodGroup, WarnsOfAGroupThatIsItsOwnParent) {
  EXPECT_EQ(composite_pod_group_warnings(composite("{parentCompositePodGroupName: c}")).size(), 1U);
  EXPECT_TRUE(composite_pod_group_warnings(composite("{parentCompositePodGroupName: d}")).empty());
}

}  // namespace
}  // namespace muster::api
