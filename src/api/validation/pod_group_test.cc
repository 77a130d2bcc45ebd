#include "api/validation/pod_group.h"

#include <fmt/format.h>

#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

const Gates kAll = Gates().with(Gate::DRAWorkloadResourceClaims);
const std::string kFixed = ": Invalid value: null: field is immutable";

// A PodGroup as it stands when it is validated: decoded and defaulted.
Json group(std::string_view spec, std::string_view status = "{}") {
  Json document = decoded(
      "scheduling/v1beta1", "PodGroup",
      fmt::format("metadata: {{name: g, namespace: lab}}\nspec: {}\nstatus: {}", spec, status));
  apply_defaults(schema::message("scheduling/v1beta1", "PodGroup"), document);
  return document;
}
Causes create(std::string_view spec) { return causes(validate_pod_group(group(spec), kAll)); }
Causes update(std::string_view old_spec, std::string_view new_spec, const Gates& gates = kAll) {
  return causes(validate_pod_group_update(group(new_spec), group(old_spec), gates));
}

TEST(PodGroup, IsDisruptedOneByOneUnlessItSaysOtherwise) {
  EXPECT_EQ(*find_path(group("{schedulingPolicy: {basic: {}}}"), "spec.disruptionMode"),
            Json(JsonObject{{"single", JsonObject()}}));
  EXPECT_EQ(*find_path(group("{disruptionMode: {all: {}}}"), "spec.disruptionMode"),
            Json(JsonObject{{"all", JsonObject()}}));
}

struct Case {
  std::string_view rule;
  std::string_view spec;
  Causes want;
};

TEST(PodGroup, EveryRuleHasItsSentence) {
  const std::vector<Case> cases = {
      {"smallest", "{schedulingPolicy: {basic: {}}}", {}},
      {"P2 union",
       "{}",
       {"Invalid spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, "
        "`gang`"}},
      {"P2 zero",
       "{schedulingPolicy: {gang: {minCount: 0}}}",
       {"Required spec.schedulingPolicy.gang.minCount: Required value"}},
      {"P2 negative",
       "{schedulingPolicy: {gang: {minCount: -4}}}",
       {"Invalid spec.schedulingPolicy.gang.minCount: Invalid value: -4: must be greater than or "
        "equal to 1"}},
      {"P3",
       "{schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: a/b/c}]}}",
       {"Invalid spec.schedulingConstraints.topology[0].key: Invalid value: \"a/b/c\": a valid "
        "label key must consist of alphanumeric characters, '-', '_' or '.', and must start and "
        "end "
        "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
        "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
        "subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
      {"P4",
       "{schedulingPolicy: {basic: {}}, resourceClaims: [{name: a}]}",
       {"Invalid spec.resourceClaims[0]: Invalid value: \"\": must specify one of: "
        "`resourceClaimName`, `resourceClaimTemplateName`"}},
      {"P5",
       "{schedulingPolicy: {basic: {}}, disruptionMode: {}}",
       {"Invalid spec.disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"}},
      {"P6",
       "{schedulingPolicy: {basic: {}}, priorityClassName: A, priority: 2000000000, "
       "preemptionPolicy: ''}",
       {"Invalid spec.priorityClassName: Invalid value: \"A\": " + kBadSubdomain,
        "Invalid spec.priority: Invalid value: 2000000000: must be less than or equal to "
        "1000000000",
        "NotSupported spec.preemptionPolicy: Unsupported value: \"\": supported values: \"Never\", "
        "\"PreemptLowerPriority\""}},
      {"P6 highest", "{schedulingPolicy: {basic: {}}, priority: 1000000000}", {}},
      {"P7, P8 missing",
       "{workloadRef: {}, schedulingPolicy: {basic: {}}}",
       {"Required spec.workloadRef.workloadName: Required value",
        "Required spec.workloadRef.templateName: Required value"}},
      {"P7, P8 bad",
       "{workloadRef: {workloadName: A, templateName: a.b}, schedulingPolicy: {basic: {}}}",
       {"Invalid spec.workloadRef.workloadName: Invalid value: \"A\": " + kBadSubdomain,
        "Invalid spec.workloadRef.templateName: Invalid value: \"a.b\": must not contain dots"}},
      {"P9",
       "{parentCompositePodGroupName: '', workloadRef: {workloadName: w, templateName: t}, "
       "schedulingPolicy: {basic: {}}}",
       {"Invalid spec.parentCompositePodGroupName: Invalid value: \"\": " + kBadSubdomain}},
      {"P10 comes first",
       "{parentCompositePodGroupName: P, schedulingPolicy: {basic: {}}}",
       {"Required spec.workloadRef: Required value: must be set when parentCompositePodGroupName "
        "is set",
        "Invalid spec.parentCompositePodGroupName: Invalid value: \"P\": " + kBadSubdomain}},
      {"basic with all is fine", "{schedulingPolicy: {basic: {}}, disruptionMode: {all: {}}}", {}},
  };
  for (const Case& c : cases) EXPECT_EQ(create(c.spec), c.want) << c.rule;
}

TEST(PodGroup, MetadataAndADefaultedDisruptionModeAreRequired) {  // P1, P5
  const Json bare = decoded("scheduling/v1beta1", "PodGroup",
                            "metadata: {}\nspec: {schedulingPolicy: {basic: {}}}");
  EXPECT_EQ(causes(validate_pod_group(bare, kAll)),
            (Causes{"Required metadata.name: Required value: name or generateName is required",
                    "Required metadata.namespace: Required value",
                    "Required spec.disruptionMode: Required value"}));
}

struct Update {
  std::string_view change;
  std::string_view old_spec, new_spec;
  Causes want;
};

TEST(PodGroup, UpdatesMayChangeTheMinimumOnly) {
  const std::vector<Update> updates = {
      {"minimum",
       "{schedulingPolicy: {gang: {minCount: 2}}}",
       "{schedulingPolicy: {gang: {minCount: 5}}}",
       {}},
      {"minimum to zero",
       "{schedulingPolicy: {gang: {minCount: 2}}}",
       "{schedulingPolicy: {gang: {minCount: 0}}}",
       {"Required spec.schedulingPolicy.gang.minCount: Required value"}},
      {"minimum below zero",
       "{schedulingPolicy: {gang: {minCount: 2}}}",
       "{schedulingPolicy: {gang: {minCount: -1}}}",
       {"Invalid spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or "
        "equal to 1"}},
      {"gang to basic",
       "{schedulingPolicy: {gang: {minCount: 2}}}",
       "{schedulingPolicy: {basic: {}}}",
       {"Invalid spec.schedulingPolicy.basic" + kFixed,
        "Invalid spec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once "
        "set"}},
      {"basic to gang",
       "{schedulingPolicy: {basic: {}}}",
       "{schedulingPolicy: {gang: {minCount: 2}}}",
       {"Invalid spec.schedulingPolicy.basic" + kFixed,
        "Invalid spec.schedulingPolicy.gang: Invalid value: null: field cannot be set once "
        "created"}},
      {"both",
       "{schedulingPolicy: {gang: {minCount: 2}}}",
       "{schedulingPolicy: {basic: {}, gang: {minCount: 2}}}",
       {"Invalid spec.schedulingPolicy: Invalid value: \"{basic, gang}\": must specify exactly one "
        "of: `basic`, `gang`",
        "Invalid spec.schedulingPolicy.basic" + kFixed}},
      {"neither",
       "{schedulingPolicy: {gang: {minCount: 2}}}",
       "{}",
       {"Invalid spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`",
        "Invalid spec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once "
        "set"}},
      {"set what was unset",
       "{schedulingPolicy: {basic: {}}}",
       "{parentCompositePodGroupName: P, workloadRef: {}, schedulingPolicy: {basic: {}}, "
       "schedulingConstraints: {}, resourceClaims: [{}], disruptionMode: {}, priorityClassName: A, "
       "priority: 0, preemptionPolicy: Maybe}",
       {"Invalid spec.parentCompositePodGroupName" + kFixed, "Invalid spec.workloadRef" + kFixed,
        "Invalid spec.schedulingConstraints" + kFixed, "Invalid spec.resourceClaims" + kFixed,
        "Invalid spec.disruptionMode" + kFixed, "Invalid spec.priorityClassName" + kFixed,
        "Invalid spec.priority" + kFixed, "Invalid spec.preemptionPolicy" + kFixed}},
      {"clear what was set",
       "{parentCompositePodGroupName: p, workloadRef: {workloadName: w, templateName: t}, "
       "schedulingPolicy: {basic: {}}, schedulingConstraints: {}, disruptionMode: {all: {}}, "
       "priorityClassName: a, priority: 3, preemptionPolicy: Never}",
       "{schedulingPolicy: {basic: {}}}",
       {"Invalid spec.parentCompositePodGroupName" + kFixed, "Invalid spec.workloadRef" + kFixed,
        "Invalid spec.schedulingConstraints" + kFixed, "Invalid spec.disruptionMode" + kFixed,
        "Invalid spec.priorityClassName" + kFixed, "Invalid spec.priority" + kFixed,
        "Invalid spec.preemptionPolicy" + kFixed}},
      {"zeros that mean nothing",
       "{schedulingPolicy: {basic: {}}, schedulingConstraints: {}}",
       "{schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: []}, resourceClaims: [], "
       "priorityClassName: ''}",
       {}},
      {"invalid but stored", "{priority: 2000000000}", "{priority: 2000000000}", {}},
  };
  for (const Update& u : updates) EXPECT_EQ(update(u.old_spec, u.new_spec), u.want) << u.change;
}

TEST(PodGroup, StoredFieldsOfAGateThatIsOff) {
  const Gates off = Gates()
                        .without(Gate::CompositePodGroup)
                        .without(Gate::TopologyAwareWorkloadScheduling)
                        .without(Gate::PodGroupPreemptionPolicy);
  constexpr std::string_view kOld =
      "{parentCompositePodGroupName: p, workloadRef: {workloadName: w, templateName: t}, "
      "schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: rack}]}, "
      "preemptionPolicy: Never}";
  EXPECT_EQ(update(kOld, kOld, off), Causes{});
  EXPECT_EQ(update(kOld,
                   "{parentCompositePodGroupName: q, workloadRef: {workloadName: w, templateName: "
                   "t}, schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: "
                   "zone}]}, preemptionPolicy: PreemptLowerPriority}",
                   off),
            (Causes{"Forbidden spec.parentCompositePodGroupName: Forbidden",
                    "Invalid spec.parentCompositePodGroupName" + kFixed,
                    "Forbidden spec.schedulingConstraints: Forbidden",
                    "Forbidden spec.preemptionPolicy: Forbidden",
                    "Invalid spec.preemptionPolicy" + kFixed}));
  EXPECT_EQ(update(kOld,
                   "{workloadRef: {workloadName: w, templateName: t}, schedulingPolicy: {basic: "
                   "{}}}",
                   off),
            (Causes{"Invalid spec.parentCompositePodGroupName" + kFixed,
                    "Invalid spec.preemptionPolicy" + kFixed}));
}

TEST(PodGroup, UpdatesMayNotChangeTheObjectsIdentity) {
  Json now = group("{schedulingPolicy: {basic: {}}}");
  now.as_object()["metadata"].as_object()["name"] = "h";
  EXPECT_EQ(causes(validate_pod_group_update(now, group("{schedulingPolicy: {basic: {}}}"), kAll)),
            Causes{"Invalid metadata.name: Invalid value: \"h\": field is immutable"});
}

constexpr std::string_view kSpec =
    "{schedulingPolicy: {basic: {}}, resourceClaims: [{name: a, resourceClaimName: x}, {name: b, "
    "resourceClaimName: x}]}";
Causes status(std::string_view now, std::string_view old = "{}") {
  return causes(validate_pod_group_status_update(group(kSpec, now), group(kSpec, old)));
}
// One condition with its required members unless the text replaces them.
std::string condition(std::string_view members) {
  return fmt::format("{{conditions: [{{lastTransitionTime: '2026-08-20T10:00:00Z', {}}}]}}",
                     members);
}

TEST(PodGroup, ConditionsMustBeWellFormed) {
  const std::string at = "status.conditions[0].";
  const std::vector<Case> cases = {
      {"fine",
       "{conditions: [{type: example.com/A, status: Unknown, reason: 'A,b:c_', message: "
       "'', lastTransitionTime: '2026-08-20T10:00:00Z'}]}",
       {}},
      {"everything missing",
       "{conditions: [{}]}",
       {"Required " + at + "type: Required value: is required",
        "Required " + at + "status: Required value",
        "Required " + at + "lastTransitionTime: Required value",
        "Required " + at + "reason: Required value"}},
  };
  for (const Case& c : cases) EXPECT_EQ(status(c.spec), c.want) << c.rule;
  EXPECT_EQ(status(condition("type: '!', status: Maybe, reason: '1', observedGeneration: -1")),
            (Causes{"Invalid " + at + "type: Invalid value: \"!\": " + kBadNamePart,
                    "NotSupported " + at +
                        "status: Unsupported value: \"Maybe\": supported values: \"False\", "
                        "\"True\", \"Unknown\"",
                    "Invalid " + at +
                        "observedGeneration: Invalid value: -1: must be greater than or equal to "
                        "zero",
                    "Invalid " + at +
                        "reason: Invalid value: \"1\": a condition reason must start with "
                        "alphabetic character, optionally followed by a string of alphanumeric "
                        "characters or '_,:', and must end with an alphanumeric character or '_' "
                        "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or "
                        "'ReasonA:ReasonB', regex used for validation is "
                        "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"}));
  EXPECT_EQ(status(condition(fmt::format("type: A, status: 'True', reason: {}, message: {}",
                                         std::string(1025, 'r'), std::string(32769, 'm')))),
            (Causes{"TooLong " + at + "reason: Too long: may not be more than 1024 bytes",
                    "TooLong " + at + "message: Too long: may not be more than 32768 bytes"}));
  constexpr std::string_view kOne =
      "{type: A, status: 'True', reason: R, lastTransitionTime: '2026-08-20T10:00:00Z'}";
  EXPECT_EQ(status(fmt::format("{{conditions: [{}, {}]}}", kOne, kOne)),
            Causes{"Duplicate status.conditions[1]: Duplicate value: \"A\""});
}

TEST(PodGroup, ClaimStatusesMustMatchTheClaims) {
  const std::string at = "status.resourceClaimStatuses";
  EXPECT_EQ(status("{resourceClaimStatuses: [{name: a}, {name: b, resourceClaimName: x}]}"),
            Causes{});
  EXPECT_EQ(
      status("{resourceClaimStatuses: [{name: c, resourceClaimName: X}]}"),
      (Causes{"Invalid " + at +
                  "[0].name: Invalid value: \"c\": must match the name of an entry in "
                  "`spec.resourceClaims`",
              "Invalid " + at + "[0].resourceClaimName: Invalid value: \"X\": " + kBadSubdomain}));
  EXPECT_EQ(status("{resourceClaimStatuses: [{name: a}, {name: a, resourceClaimName: z}]}"),
            Causes{"Duplicate " + at +
                   "[1]: Duplicate value: {\"name\":\"a\",\"resourceClaimName\":\"z\"}"});
  EXPECT_EQ(status("{resourceClaimStatuses: [{name: a}, {name: a}, {name: a}, {name: a}, {name: "
                   "a}]}"),
            Causes{"TooMany " + at + ": Too many: 5: must have at most 4 items"});
  constexpr std::string_view kBad = "{resourceClaimStatuses: [{name: a, resourceClaimName: X}]}";
  EXPECT_EQ(status(kBad, kBad), Causes{});
}

}  // namespace
}  // namespace muster::api
