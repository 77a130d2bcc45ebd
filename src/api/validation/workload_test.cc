#include "api/validation/workload.h"

#include <fmt/format.h>

#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

const Gates kAll = Gates().with(Gate::DRAWorkloadResourceClaims);
const std::string kLong64(64, 'a');
const std::string kLong254(254, 'a');

Json workload(std::string_view spec, std::string_view name = "w") {
  return decoded("scheduling/v1beta1", "Workload",
                 fmt::format("metadata: {{name: {}, namespace: lab}}\nspec: {}", name, spec));
}
// A flat workload of one template with these members beside its name.
Json flat(std::string_view members) {
  return workload(fmt::format("{{podGroupTemplates: [{{name: a, {}}}]}}", members));
}
Causes create(std::string_view spec) { return causes(validate_workload(workload(spec), kAll)); }

constexpr std::string_view kBasic = "schedulingPolicy: {basic: {}}";

TEST(Workload, MetadataMustNameTheObjectAndItsNamespace) {  // W1, W2
  const std::string spec = "podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}}]";
  const auto errors = [&](std::string_view metadata) {
    return causes(
        validate_workload(decoded("scheduling/v1beta1", "Workload",
                                  fmt::format("metadata: {}\nspec: {{{}}}", metadata, spec)),
                          kAll));
  };
  EXPECT_EQ(errors("{namespace: lab}"),
            Causes{"Required metadata.name: Required value: name or generateName is required"});
  EXPECT_EQ(errors("{name: A, namespace: lab}"),
            Causes{"Invalid metadata.name: Invalid value: \"A\": " + kBadSubdomain});
  EXPECT_EQ(errors(fmt::format("{{name: {}, namespace: lab}}", kLong254)),
            Causes{fmt::format("Invalid metadata.name: Invalid value: \"{}\": must be no more than "
                               "253 characters",
                               kLong254)});
  EXPECT_EQ(errors("{name: a}"), Causes{"Required metadata.namespace: Required value"});
  EXPECT_EQ(errors("{name: a, namespace: L}"),
            Causes{"Invalid metadata.namespace: Invalid value: \"L\": " + kBadLabel});
}

struct Case {
  std::string_view rule;
  std::string spec;
  Causes want;
};

// One template with these members beside its name, and what is said of spec.podGroupTemplates[0].
Case leaf(std::string_view rule, std::string_view members, Causes want) {
  return {rule, fmt::format("{{podGroupTemplates: [{{name: a, {}}}]}}", members), std::move(want)};
}

TEST(Workload, EveryFieldRuleHasItsSentence) {
  const std::string at = "spec.podGroupTemplates[0].";
  const std::vector<Case> cases = {
      {"W3",
       "{podGroupTemplates: []}",
       {"Invalid spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, "
        "`compositePodGroupTemplates`"}},
      {"W4",
       "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}}], "
       "compositePodGroupTemplates: "
       "[{name: b, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: c, schedulingPolicy: "
       "{basic: {}}}]}]}",
       {"Invalid spec: Invalid value: \"{podGroupTemplates, compositePodGroupTemplates}\": must "
        "specify exactly one of: `podGroupTemplates`, `compositePodGroupTemplates`"}},
      {"W5 too many, and nothing else about them",
       "{podGroupTemplates: [{name: A}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}, "
       "{name: g}, {name: h}, {name: i}]}",
       {"TooMany spec.podGroupTemplates: Too many: 9: must have at most 8 items"}},
      {"W6",
       "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}}, {name: a, "
       "schedulingPolicy: {gang: {minCount: 2}}}]}",
       {"Duplicate spec.podGroupTemplates[1]: Duplicate value: {\"name\":\"a\","
        "\"schedulingPolicy\":{\"gang\":{\"minCount\":2}},\"schedulingConstraints\":null}"}},
      {"W8 missing",
       "{podGroupTemplates: [{schedulingPolicy: {basic: {}}}]}",
       {"Required spec.podGroupTemplates[0].name: Required value"}},
      {"W8 dots",
       "{podGroupTemplates: [{name: a.b, schedulingPolicy: {basic: {}}}]}",
       {"Invalid " + at + "name: Invalid value: \"a.b\": must not contain dots"}},
      {"W8 bad",
       "{podGroupTemplates: [{name: A_, schedulingPolicy: {basic: {}}}]}",
       {"Invalid " + at + "name: Invalid value: \"A_\": " + kBadLabel}},
      {"W8 long",
       fmt::format("{{podGroupTemplates: [{{name: {}, schedulingPolicy: {{basic: {{}}}}}}]}}",
                   kLong64),
       {fmt::format("Invalid {}name: Invalid value: \"{}\": must be no more than 63 bytes", at,
                    kLong64)}},
      leaf("W13 none", "schedulingPolicy: {}",
           {"Invalid " + at +
            "schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"}),
      leaf("W13 missing", "priority: 1",
           {"Invalid " + at +
            "schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"}),
      leaf("W13 both", "schedulingPolicy: {basic: {}, gang: {minCount: 0}}",
           {"Invalid " + at +
                "schedulingPolicy: Invalid value: \"{basic, gang}\": must specify exactly one of: "
                "`basic`, `gang`",
            "Required " + at + "schedulingPolicy.gang.minCount: Required value"}),
      leaf("W14 missing", "schedulingPolicy: {gang: {}}",
           {"Required " + at + "schedulingPolicy.gang.minCount: Required value"}),
      leaf("W14 negative", "schedulingPolicy: {gang: {minCount: -1}}",
           {"Invalid " + at +
            "schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to "
            "1"}),
      leaf("W15",
           fmt::format("{}, schedulingConstraints: {{topology: [{{key: a}}, {{}}]}}", kBasic),
           {"TooMany " + at +
            "schedulingConstraints.topology: Too many: 2: must have at most 1 item"}),
      leaf("W16 missing", fmt::format("{}, schedulingConstraints: {{topology: [{{}}]}}", kBasic),
           {"Required " + at + "schedulingConstraints.topology[0].key: Required value"}),
      leaf("W16 bad",
           fmt::format("{}, schedulingConstraints: {{topology: [{{key: 'rack!'}}]}}", kBasic),
           {"Invalid " + at +
            "schedulingConstraints.topology[0].key: Invalid value: \"rack!\": " + kBadNamePart}),
      leaf("empty constraints mean nothing", fmt::format("{}, schedulingConstraints: {{}}", kBasic),
           {}),
      leaf("W17 none", fmt::format("{}, disruptionMode: {{}}", kBasic),
           {"Invalid " + at +
            "disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"}),
      leaf("W17 both", fmt::format("{}, disruptionMode: {{single: {{}}, all: {{}}}}", kBasic),
           {"Invalid " + at +
            "disruptionMode: Invalid value: \"{single, all}\": must specify exactly one of: "
            "`single`, `all`"}),
      leaf("W18", fmt::format("{}, priorityClassName: A", kBasic),
           {"Invalid " + at + "priorityClassName: Invalid value: \"A\": " + kBadSubdomain}),
      leaf("W18 long", fmt::format("{}, priorityClassName: {}", kBasic, kLong254),
           {fmt::format("Invalid {}priorityClassName: Invalid value: \"{}\": must be no more than "
                        "253 bytes",
                        at, kLong254)}),
      leaf("W18 empty is unset", fmt::format("{}, priorityClassName: ''", kBasic), {}),
      leaf("W19", fmt::format("{}, priority: 1000000001", kBasic),
           {"Invalid " + at +
            "priority: Invalid value: 1000000001: must be less than or equal to 1000000000"}),
      leaf("W19 negative is fine", fmt::format("{}, priority: -7", kBasic), {}),
      leaf("W20", fmt::format("{}, preemptionPolicy: Maybe", kBasic),
           {"NotSupported " + at +
            "preemptionPolicy: Unsupported value: \"Maybe\": supported values: \"Never\", "
            "\"PreemptLowerPriority\""}),
      leaf("W21 too many",
           fmt::format("{}, resourceClaims: [{{name: a}}, {{name: b}}, {{name: c}}, {{name: d}}, "
                       "{{name: e}}]",
                       kBasic),
           {"TooMany " + at + "resourceClaims: Too many: 5: must have at most 4 items"}),
      leaf("W21 same",
           fmt::format("{}, resourceClaims: [{{name: a, resourceClaimName: x}}, {{name: a, "
                       "resourceClaimName: z}}]",
                       kBasic),
           {"Duplicate " + at +
            R"(resourceClaims[1]: Duplicate value: {"name":"a","resourceClaimName":"z"})"}),
      leaf("W22 none", fmt::format("{}, resourceClaims: [{{name: a}}]", kBasic),
           {"Invalid " + at +
            "resourceClaims[0]: Invalid value: \"\": must specify one of: `resourceClaimName`, "
            "`resourceClaimTemplateName`"}),
      leaf("W22 both",
           fmt::format("{}, resourceClaims: [{{name: a, resourceClaimName: x, "
                       "resourceClaimTemplateName: z}}]",
                       kBasic),
           {"Invalid " + at +
            "resourceClaims[0]: Invalid value: \"{resourceClaimName, resourceClaimTemplateName}\": "
            "must specify exactly one of: `resourceClaimName`, `resourceClaimTemplateName`"}),
      leaf("W23 missing", fmt::format("{}, resourceClaims: [{{resourceClaimName: x}}]", kBasic),
           {"Required " + at + "resourceClaims[0].name: Required value"}),
      leaf("W23 bad",
           fmt::format("{}, resourceClaims: [{{name: A, resourceClaimName: x}}]", kBasic),
           {"Invalid " + at + "resourceClaims[0].name: Invalid value: \"A\": " + kBadLabel}),
      leaf("W24", fmt::format("{}, resourceClaims: [{{name: a, resourceClaimName: X}}]", kBasic),
           {"Invalid " + at +
            "resourceClaims[0].resourceClaimName: Invalid value: \"X\": " + kBadSubdomain}),
      leaf("W24 empty",
           fmt::format("{}, resourceClaims: [{{name: a, resourceClaimTemplateName: ''}}]", kBasic),
           {"Invalid " + at +
            "resourceClaims[0].resourceClaimTemplateName: Invalid value: \"\": " + kBadSubdomain}),
      {"W25 missing",
       fmt::format("{{controllerRef: {{}}, podGroupTemplates: [{{name: a, {}}}]}}", kBasic),
       {"Required spec.controllerRef.kind: Required value",
        "Required spec.controllerRef.name: Required value"}},
      {"W25 bad",
       fmt::format("{{controllerRef: {{kind: 'a/b%', name: '.'}}, podGroupTemplates: [{{name: a, "
                   "{}}}]}}",
                   kBasic),
       {"Invalid spec.controllerRef.kind: Invalid value: \"a/b%\": may not contain '/'",
        "Invalid spec.controllerRef.kind: Invalid value: \"a/b%\": may not contain '%'",
        "Invalid spec.controllerRef.name: Invalid value: \".\": may not be '.'"}},
      {"W26",
       fmt::format("{{controllerRef: {{apiGroup: A, kind: Job, name: x}}, podGroupTemplates: "
                   "[{{name: a, {}}}]}}",
                   kBasic),
       {"Invalid spec.controllerRef.apiGroup: Invalid value: \"A\": " + kBadSubdomain}},
  };
  for (const Case& c : cases) EXPECT_EQ(create(c.spec), c.want) << c.rule;
}

TEST(Workload, FieldRulesHoldInCompositeTemplatesToo) {
  EXPECT_EQ(
      create("{compositePodGroupTemplates: [{name: A, schedulingPolicy: {gang: {}}, "
             "schedulingConstraints: {topology: [{key: a}, {key: b}]}, disruptionMode: {}, "
             "preemptionPolicy: Maybe, podGroupTemplates: [{name: leaf, schedulingPolicy: {gang: "
             "{minCount: -2}}}], compositePodGroupTemplates: [{name: B, schedulingPolicy: {gang: "
             "{minGroupCount: -3}}, podGroupTemplates: [{name: c, schedulingPolicy: {basic: "
             "{}}}]}]}]}"),
      (Causes{
          "Invalid spec.compositePodGroupTemplates[0].name: Invalid value: \"A\": " + kBadLabel,
          ("Required spec.compositePodGroupTemplates[0].schedulingPolicy.gang.minGroupCount: "
           "Required value"),
          ("TooMany spec.compositePodGroupTemplates[0].schedulingConstraints.topology: Too many: "
           "2: must have at most 1 item"),
          ("Invalid spec.compositePodGroupTemplates[0].disruptionMode: Invalid value: \"\": must "
           "specify one of: `single`, `all`"),
          ("NotSupported spec.compositePodGroupTemplates[0].preemptionPolicy: Unsupported value: "
           "\"Maybe\": supported values: \"Never\", \"PreemptLowerPriority\""),
          ("Invalid spec.compositePodGroupTemplates[0].podGroupTemplates[0].schedulingPolicy.gang."
           "minCount: Invalid value: -2: must be greater than or equal to 1"),
          "Invalid spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0].name: Invalid "
          "value: \"B\": " +
              kBadLabel,
          ("Invalid spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]."
           "schedulingPolicy.gang.minGroupCount: Invalid value: -3: must be greater than or equal "
           "to 1")}));
}

// A composite template of the given name around the given children.
std::string composite(std::string_view name, std::string_view rest) {
  return fmt::format("{{name: {}, schedulingPolicy: {{basic: {{}}}}, {}}}", name, rest);
}
std::string pods(std::string_view name) {
  return fmt::format("podGroupTemplates: [{{name: {}, schedulingPolicy: {{basic: {{}}}}}}]", name);
}
std::string composites(std::string_view items) {
  return fmt::format("compositePodGroupTemplates: [{}]", items);
}

TEST(Workload, NamesAreUniqueInTheWholeTree) {  // W7
  const std::string spec =
      "{" +
      composites(composite("a", pods("x") + ", " + composites(composite("a", pods("z")))) + ", " +
                 composite("b", pods("x"))) +
      "}";
  EXPECT_EQ(create(spec),
            (Causes{"Duplicate spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]."
                    "name: Duplicate value: \"a\"",
                    "Duplicate spec.compositePodGroupTemplates[1].podGroupTemplates[0].name: "
                    "Duplicate value: \"x\""}));
}

TEST(Workload, ThreeLevelsOfCompositesAreTheMost) {  // W9
  const std::string three =
      composite("l1", composites(composite("l2", composites(composite("l3", pods("p"))))));
  EXPECT_EQ(create("{" + composites(three) + "}"), Causes{});
  const std::string four = composite(
      "l1", composites(composite(
                "l2", composites(composite("l3", composites(composite("l4", pods("p"))))))));
  const FieldErrors errors = validate_workload(
      workload("{" + composites(composite("r", pods("q")) + ", " + four) + "}"), kAll);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.causes()[0].type, "FieldValueInvalid");
  EXPECT_EQ(errors.causes()[0].field, "spec.compositePodGroupTemplates[1]");
  EXPECT_TRUE(errors.causes()[0].message.ends_with(": maximum template hierarchy depth is 4"));
}

TEST(Workload, ACompositeHasChildren) {  // W10
  EXPECT_EQ(create("{" +
                   composites(composite(
                       "a", composites(composite("b", "priority: 0")) + ", priority: 0")) +
                   "}"),
            Causes{"Invalid spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]: "
                   "Invalid value: \"b\": must have at least one child PodGroupTemplate or "
                   "CompositePodGroupTemplate"});
}

TEST(Workload, AllTemplatesAgreeOnPriority) {  // W11, W12
  EXPECT_EQ(create("{podGroupTemplates: [{name: a, priority: 0, schedulingPolicy: {basic: {}}}, "
                   "{name: b, schedulingPolicy: {basic: {}}}]}"),
            Causes{"Invalid spec: Invalid value: null: detected multiple priority configurations"});
  EXPECT_EQ(create("{" + composites(composite("a", pods("x") + ", priorityClassName: high")) + "}"),
            Causes{"Invalid spec: Invalid value: null: all priority and priorityClassName values "
                   "must be identical, detected multiple values"});
}

TEST(Workload, WhatIsDisruptedAsAWholeHasNoPartsThatGoOneByOne) {
  const std::string spec =
      "{compositePodGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}, disruptionMode: "
      "{all: {}}, podGroupTemplates: [{name: s, disruptionMode: {single: {}}, schedulingPolicy: "
      "{basic: {}}}, {name: u, schedulingPolicy: {basic: {}}}, {name: l, disruptionMode: {all: "
      "{}}, schedulingPolicy: {basic: {}}}], compositePodGroupTemplates: [{name: m, "
      "schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: o, disruptionMode: {single: {}}, "
      "schedulingPolicy: {basic: {}}}]}]}]}";
  const std::string at = "spec.compositePodGroupTemplates[0].";
  const std::string why =
      "disruptionMode: Invalid value: {\"single\":{}}: must not be `single` below template \"a\", "
      "whose disruptionMode is `all`";
  EXPECT_EQ(
      create(spec),
      (Causes{"Invalid " + at + "podGroupTemplates[0]." + why,
              "Invalid " + at + "compositePodGroupTemplates[0].podGroupTemplates[0]." + why}));
  const std::string unset =
      "disruptionMode: unset below template \"a\", whose disruptionMode is all: its groups are "
      "disrupted only together with it";
  EXPECT_EQ(workload_warnings(workload(spec)),
            (std::vector<std::string>{at + "podGroupTemplates[1]." + unset,
                                      at + "compositePodGroupTemplates[0]." + unset}));
  EXPECT_EQ(causes(validate_workload_update(workload(spec), workload(spec), kAll)), Causes{});
  EXPECT_TRUE(workload_warnings(flat(kBasic)).empty());
}

struct Update {
  std::string_view change;
  std::string_view old_spec, new_spec;
  Causes want;
};

TEST(Workload, UpdatesMayChangeCountsAndOrderOnly) {
  constexpr std::string_view kOld =
      "{controllerRef: {kind: Job, name: j}, podGroupTemplates: [{name: a, schedulingPolicy: "
      "{gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: rack}]}, disruptionMode: "
      "{all: {}}}, {name: b, schedulingPolicy: {basic: {}}}]}";
  const std::string fixed = ": Invalid value: null: field is immutable";
  const std::vector<Update> updates = {
      {"nothing", kOld, kOld, {}},
      {"order and count",
       kOld,
       "{controllerRef: {apiGroup: '', kind: Job, name: j}, podGroupTemplates: [{name: b, "
       "priorityClassName: '', resourceClaims: [], schedulingPolicy: {basic: {}}}, {name: a, "
       "schedulingPolicy: {gang: {minCount: 3}}, schedulingConstraints: {topology: [{key: rack}]}, "
       "disruptionMode: {all: {}}}]}",
       {}},
      {"count to nothing",
       kOld,
       "{controllerRef: {kind: Job, name: j}, podGroupTemplates: [{name: a, schedulingPolicy: "
       "{gang: {}}, schedulingConstraints: {topology: [{key: rack}]}, disruptionMode: {all: {}}}, "
       "{name: b, schedulingPolicy: {basic: {}}}]}",
       {"Required spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value"}},
      {"controllerRef",
       kOld,
       "{controllerRef: {kind: Job, name: 'k/'}, podGroupTemplates: [{name: a, schedulingPolicy: "
       "{gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: rack}]}, disruptionMode: "
       "{all: {}}}, {name: b, schedulingPolicy: {basic: {}}}]}",
       {"Invalid spec.controllerRef" + fixed}},
      {"added",
       "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}}]}",
       "{podGroupTemplates: [{name: A}, {name: a, schedulingPolicy: {gang: {}}}]}",
       {"Forbidden spec.podGroupTemplates[0]: Forbidden: item may not be added"}},
      {"removed",
       "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}}, {name: b, schedulingPolicy: "
       "{basic: {}}}, {name: c, schedulingPolicy: {basic: {}}}]}",
       "{podGroupTemplates: [{name: b, schedulingPolicy: {basic: {}}}]}",
       {"Forbidden spec.podGroupTemplates: Forbidden: item may not be removed",
        "Forbidden spec.podGroupTemplates: Forbidden: item may not be removed"}},
      {"cleared",
       "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}}]}",
       "{}",
       {"Invalid spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, "
        "`compositePodGroupTemplates`",
        "Forbidden spec.podGroupTemplates: Forbidden: item may not be removed"}},
      {"variant",
       kOld,
       "{controllerRef: {kind: Job, name: j}, podGroupTemplates: [{name: a, schedulingPolicy: "
       "{basic: {}}, schedulingConstraints: {topology: [{key: rack}]}, disruptionMode: {all: {}}}, "
       "{name: b, schedulingPolicy: {gang: {minCount: -1}}}]}",
       {"Invalid spec.podGroupTemplates[0].schedulingPolicy.basic" + fixed,
        "Invalid spec.podGroupTemplates[0].schedulingPolicy.gang: Invalid value: null: field "
        "cannot be cleared once set",
        "Invalid spec.podGroupTemplates[1].schedulingPolicy.basic" + fixed,
        "Invalid spec.podGroupTemplates[1].schedulingPolicy.gang: Invalid value: null: field "
        "cannot be set once created"}},
      {"all that is fixed",
       "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}}]}",
       "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}, schedulingConstraints: {}, "
       "resourceClaims: [{name: A}, {name: b}, {name: c}, {name: d}, {name: e}], disruptionMode: "
       "{}, priorityClassName: H, priority: 0, preemptionPolicy: Maybe}]}",
       {"Invalid spec.podGroupTemplates[0].schedulingConstraints" + fixed,
        "Invalid spec.podGroupTemplates[0].resourceClaims" + fixed,
        "TooMany spec.podGroupTemplates[0].resourceClaims: Too many: 5: must have at most 4 items",
        "Invalid spec.podGroupTemplates[0].disruptionMode" + fixed,
        "Invalid spec.podGroupTemplates[0].priorityClassName" + fixed,
        "Invalid spec.podGroupTemplates[0].priority" + fixed,
        "Invalid spec.podGroupTemplates[0].preemptionPolicy" + fixed}},
      {"composites",
       "{compositePodGroupTemplates: [{name: r, schedulingPolicy: {gang: {minGroupCount: 1}}, "
       "podGroupTemplates: [{name: a, schedulingPolicy: {gang: {minCount: 1}}}]}]}",
       "{compositePodGroupTemplates: [{name: r, schedulingPolicy: {gang: {minGroupCount: 2}}, "
       "schedulingConstraints: {topology: [{key: rack}]}, podGroupTemplates: [{name: a, "
       "schedulingPolicy: {gang: {minCount: 9}}}, {name: b, schedulingPolicy: {basic: {}}}]}]}",
       {"Invalid spec.compositePodGroupTemplates[0].schedulingConstraints" + fixed,
        "Forbidden spec.compositePodGroupTemplates[0].podGroupTemplates[1]: Forbidden: item may "
        "not be added"}},
  };
  for (const Update& u : updates)
    EXPECT_EQ(causes(validate_workload_update(workload(u.new_spec), workload(u.old_spec), kAll)),
              u.want)
        << u.change;
}

TEST(Workload, WhatIsStoredAndStaysIsNotJudgedAgainExceptAsATree) {
  const Json bad = flat("schedulingPolicy: {}, preemptionPolicy: Maybe, priority: 2000000000");
  EXPECT_EQ(causes(validate_workload_update(bad, bad, kAll)), Causes{});
  const Json mixed = workload(
      "{podGroupTemplates: [{name: a, priority: 0, schedulingPolicy: {basic: {}}}, {name: b, "
      "schedulingPolicy: {basic: {}}}]}");
  EXPECT_EQ(causes(validate_workload_update(mixed, mixed, kAll)),
            Causes{"Invalid spec: Invalid value: null: detected multiple priority configurations"});
}

TEST(Workload, StoredFieldsOfAGateThatIsOffMayStayButNotChange) {
  const Gates off = Gates()
                        .without(Gate::CompositePodGroup)
                        .without(Gate::TopologyAwareWorkloadScheduling)
                        .without(Gate::PodGroupPreemptionPolicy);
  const std::string_view old =
      "{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}, schedulingConstraints: "
      "{topology: [{key: rack}]}, preemptionPolicy: Never}]}";
  EXPECT_EQ(causes(validate_workload_update(workload(old), workload(old), off)), Causes{});
  const std::string at = "spec.podGroupTemplates[0].";
  const std::string fixed = ": Invalid value: null: field is immutable";
  EXPECT_EQ(causes(validate_workload_update(
                workload("{podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}, "
                         "schedulingConstraints: {}, preemptionPolicy: PreemptLowerPriority}]}"),
                workload(old), off)),
            (Causes{"Forbidden " + at + "schedulingConstraints: Forbidden",
                    "Invalid " + at + "schedulingConstraints" + fixed,
                    "Forbidden " + at + "preemptionPolicy: Forbidden",
                    "Invalid " + at + "preemptionPolicy" + fixed}));
  EXPECT_EQ(causes(validate_workload_update(flat(kBasic), workload(old), off)),
            (Causes{"Invalid " + at + "schedulingConstraints" + fixed,
                    "Invalid " + at + "preemptionPolicy" + fixed}));
}

}  // namespace
}  // namespace muster::api
