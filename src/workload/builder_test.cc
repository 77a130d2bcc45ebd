#include "workload/builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

using api::Json;

Item leaf(std::string name, Config user = {}) {
  return {.name = std::move(name), .user = std::move(user)};
}

Item composite(std::string name, Config user, std::vector<Item> children) {
  return {.name = std::move(name), .user = std::move(user), .children = std::move(children)};
}

// The spec of the Workload without its controllerRef.
std::string templates_of(const Item& root) {
  Result<Json> workload = build(root, options());
  if (!workload) return workload.error().message;
  Json spec = *api::find(*workload, "spec");
  spec.as_object().erase("controllerRef");
  return api::to_text(spec);
}

TEST(Builder, CompilesABasicPolicy) {
  const std::string want =
      R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}}]})";
  EXPECT_EQ(templates_of(leaf("a", {.policy = Basic{}})), want);
  EXPECT_EQ(templates_of(leaf("a")), want) << "who says nothing is scheduled pod by pod";
}

TEST(Builder, CompilesAGang) {
  EXPECT_EQ(templates_of(leaf("a", {.policy = Gang{3}})),
            R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":3}}}]})");
}

TEST(Builder, CarriesConstraintsDisruptionClaimsAndPriority) {
  const Item item =
      leaf("a", {.policy = Gang{3},
                 .topology_keys = {"rack"},
                 .disruption = Disruption::All,
                 .claims = {{.name = "x", .source = Claim::Source::Claim, .source_name = "c"},
                            {.name = "z", .source = Claim::Source::Template, .source_name = "t"}},
                 .priority_class = "high",
                 .priority = 7,
                 .preemption_policy = "Never"});
  expect_document(build(item, options()), R"(
metadata:
  name: w
  namespace: ns
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true, blockOwnerDeletion: true}
spec:
  controllerRef: {apiGroup: batch, kind: Job, name: j}
  podGroupTemplates:
  - name: a
    schedulingPolicy: {gang: {minCount: 3}}
    schedulingConstraints: {topology: [{key: rack}]}
    disruptionMode: {all: {}}
    resourceClaims:
    - {name: x, resourceClaimName: c}
    - {name: z, resourceClaimTemplateName: t}
    priorityClassName: high
    priority: 7
    preemptionPolicy: Never
)");
}

TEST(Builder, TheUserOverridesTheController) {
  Item item = leaf("a", {.policy = Gang{2}});
  item.defaults = {.policy = Basic{}, .topology_keys = {"zone"}};
  EXPECT_EQ(templates_of(item),
            R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":2}},)"
            R"("schedulingConstraints":{"topology":[{"key":"zone"}]}}]})");
  item.user = {.policy = Basic{}};
  item.defaults = {.policy = Gang{2}};
  EXPECT_EQ(templates_of(item),
            R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}}]})");
}

TEST(Builder, CallbacksSeeWhatWasMerged) {
  std::vector<std::string> calls;
  Item item = leaf("a", {.policy = Gang{}});
  item.defaults = {.topology_keys = {"zone"}};
  item.callbacks = {default_minimum(4),
                    [&](Config& config) {
                      calls.push_back(fmt::format("{} in {}", *config.gang()->minimum,
                                                  config.topology_keys.front()));
                      *config.gang()->minimum *= 2;
                    },
                    nullptr};
  EXPECT_EQ(templates_of(item),
            R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":8}},)"
            R"("schedulingConstraints":{"topology":[{"key":"zone"}]}}]})");
  EXPECT_EQ(calls, std::vector<std::string>{"4 in zone"}) << "once for each build";
  EXPECT_EQ(item.user.gang()->minimum, std::nullopt) << "and the item stays as it is";
}

TEST(Builder, ADefaultMinimumFillsInWhatIsMissingOnly) {
  const auto minimum = [](Config config, std::int64_t by_default) {
    Item item = leaf("a", std::move(config));
    item.callbacks = {default_minimum(by_default)};
    const Config resolved = resolve(item);
    return resolved.gang() == nullptr ? -1 : resolved.gang()->minimum.value_or(-2);
  };
  EXPECT_EQ(minimum({.policy = Gang{}}, 4), 4);
  EXPECT_EQ(minimum({.policy = Gang{2}}, 4), 2);
  EXPECT_EQ(minimum({.policy = Gang{}}, 0), 1);
  EXPECT_EQ(minimum({.policy = Gang{}}, 1LL << 40), 2147483647);
  EXPECT_EQ(minimum({.policy = Basic{}}, 4), -1);
  EXPECT_EQ(minimum({}, 4), -1);
}

TEST(Builder, APartOfWhatIsDisruptedAsAWholeIsToo) {
  EXPECT_EQ(templates_of(composite("top", {.policy = Gang{1}, .disruption = Disruption::All},
                                   {composite("mid", {}, {leaf("low")})})),
            R"({"compositePodGroupTemplates":[{"name":"top","schedulingPolicy":{"gang":)"
            R"({"minGroupCount":1}},"disruptionMode":{"all":{}},"compositePodGroupTemplates":[)"
            R"({"name":"mid","schedulingPolicy":{"basic":{}},"disruptionMode":{"all":{}},)"
            R"("podGroupTemplates":[{"name":"low","schedulingPolicy":{"basic":{}},)"
            R"("disruptionMode":{"all":{}}}]}]}]})");
}

TEST(Builder, SeveralRootsGiveAFlatListOfTheirKind) {
  const std::vector<Item> leaves{leaf("a"), leaf("b")};
  const Result<Json> flat = build(leaves, options());
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(api::find_path(*flat, "spec.podGroupTemplates")->get_array().size(), 2U);
  const std::vector<Item> mixed{leaf("a"), composite("b", {}, {leaf("c")})};
  EXPECT_EQ(sentences(validate(mixed, options())),
            Sentences{"spec: Invalid value: \"{podGroupTemplates, compositePodGroupTemplates}\": "
                      "must specify exactly one of: `podGroupTemplates`, "
                      "`compositePodGroupTemplates`"});
  EXPECT_EQ(sentences(validate({}, options())),
            Sentences{"spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, "
                      "`compositePodGroupTemplates`"});
}

TEST(Builder, AnnotationsOfOursReachTheWorkload) {
  BuildOptions with = options();
  with.annotations = {
      {"mine", "no"}, {"scheduling.muster.dev/a", "1"}, {"scheduling.muster.dev/b", "2"}};
  const Result<Json> workload = build(leaf("a"), with);
  ASSERT_TRUE(workload);
  EXPECT_EQ(api::to_text(*api::find_path(*workload, "metadata.annotations")),
            R"({"scheduling.muster.dev/a":"1","scheduling.muster.dev/b":"2"})");
}

TEST(Builder, NeedsAnOwnerToReferTo) {
  BuildOptions bad = options();
  bad.owner = {.api_version = "", .kind = "", .name = ""};
  EXPECT_EQ(build(leaf("a"), bad).error().message,
            "a Workload needs an owner with apiVersion, kind and name to refer to");
  bad.owner = {.api_version = "a/b/c", .kind = "K", .name = "n"};
  EXPECT_EQ(build(leaf("a"), bad).error().message,
            "the owner's apiVersion \"a/b/c\" is no group and version");
  bad.owner = {.api_version = "v1", .kind = "ReplicationController", .name = "rc", .uid = "u"};
  const Result<Json> core = build(leaf("a"), bad);
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_EQ(api::to_text(*api::find_path(*core, "spec.controllerRef")),
            R"({"apiGroup":"","kind":"ReplicationController","name":"rc"})");
}

// What is wrong with a tree. Each fault names the item, and the field where its user finds it.
TEST(Builder, RefusesWhatMakesNoSense) {
  const Config together{.policy = Gang{1}, .disruption = Disruption::All};
  Item with_path = leaf("a", {.policy = Gang{}});
  with_path.path = "spec.scheduling";
  Item claims_above = composite("top", {}, {leaf("a")});
  claims_above.user.claims = {{.name = "x", .source_name = "c"}};
  struct Case {
    const char* name;
    Item root;
    Sentences want;
  };
  const Case cases[] = {
      {"a gang without a minimum",
       with_path,
       {"spec.scheduling.schedulingPolicy.gang.minCount: item \"a\": Required value"}},
      {"the same, deep down",
       composite("top", {}, {leaf("x"), leaf("a", {.policy = Gang{}})}),
       {"spec.compositePodGroupTemplates[0].podGroupTemplates[1].schedulingPolicy.gang.minCount: "
        "item \"a\": Required value"}},
      {"a negative minimum of groups",
       composite("top", {.policy = Gang{-1}}, {leaf("a")}),
       {"spec.compositePodGroupTemplates[0].schedulingPolicy.gang.minGroupCount: item \"top\": "
        "Invalid value: -1: must be greater than or equal to 1"}},
      {"no name", leaf(""), {"spec.podGroupTemplates[0].name: item \"\": Required value"}},
      {"a name twice",
       composite("top", {}, {leaf("a"), composite("a", {}, {leaf("b")})}),
       {"spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0].name: item \"a\": "
        "Duplicate value: \"a\""}},
      {"one by one below all together",
       composite("top", together, {leaf("a", {.disruption = Disruption::Single})}),
       {"spec.compositePodGroupTemplates[0].podGroupTemplates[0].disruptionMode: item \"a\": "
        "Invalid value: {\"single\":{}}: must not be `single` below template \"top\", whose "
        "disruptionMode is `all`"}},
      {"pods one by one, disrupted together",
       leaf("a", {.policy = Basic{}, .disruption = Disruption::All}),
       {"spec.podGroupTemplates[0].disruptionMode: item \"a\": Invalid value: \"\": the "
        "disruptionMode `all` is not supported with the Basic scheduling policy"}},
      {"claims above pods",
       claims_above,
       {"spec.compositePodGroupTemplates[0].resourceClaims: item \"top\": Forbidden: only groups "
        "of pods can have claims"}},
      {"two topology keys",
       leaf("a", {.topology_keys = {"x", "y"}}),
       {"spec.podGroupTemplates[0].schedulingConstraints.topology: item \"a\": Too many: 2: must "
        "have at most 1 item"}},
      {"priorities that differ",
       composite("top", {.priority_class = "high"}, {leaf("a", {.priority_class = "low"})}),
       {"spec: Invalid value: null: all priority and priorityClassName values must be identical, "
        "detected multiple values"}},
      {"too deep",
       composite("1", {},
                 {composite("2", {}, {composite("3", {}, {composite("4", {}, {leaf("5")})})})}),
       {"spec.compositePodGroupTemplates[0]: item \"1\": Invalid value: "}},
  };
  for (const Case& each : cases) {
    const std::vector<std::string> got = sentences(validate(std::span(&each.root, 1), options()));
    ASSERT_EQ(got.size(), each.want.size()) << each.name << ": " << testing::PrintToString(got);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i].starts_with(each.want[i])) << each.name << ": " << got[i];
    EXPECT_FALSE(build(each.root, options())) << each.name;
  }
}

TEST(Builder, RefusesWhatTheControllerDoesNotSupport) {
  BuildOptions narrow = options();
  narrow.allowed = {.policies = {PolicyKind::Basic}, .disruption_modes = {Disruption::Single}};
  Item item = leaf("a", {.policy = Gang{2}, .disruption = Disruption::All});
  item.path = "spec.scheduling";
  EXPECT_EQ(sentences(validate(std::span(&item, 1), narrow)),
            (Sentences{"spec.scheduling.schedulingPolicy: item \"a\": Forbidden: gang scheduling "
                       "policy is not supported by this controller",
                       "spec.scheduling.disruptionMode: item \"a\": Forbidden: the disruptionMode "
                       "`all` is not supported by this controller"}));
  narrow.allowed = {};
  item.user = {};
  EXPECT_EQ(sentences(validate(std::span(&item, 1), narrow)), Sentences{})
      << "who says nothing needs no support";
  item.user = {.policy = Basic{}};
  EXPECT_EQ(validate(std::span(&item, 1), narrow).size(), 1U);
  item.callbacks = {[](Config& config) { config.policy = Gang{1}; }};
  narrow.allowed.policies = {PolicyKind::Gang};
  EXPECT_EQ(sentences(validate(std::span(&item, 1), narrow)), Sentences{})
      << "what callbacks leave is what is judged";
}

TEST(Builder, AControllerMayDisruptSinglePodsTogether) {
  BuildOptions wide = options();
  wide.allowed.basic_disrupted_together = true;
  EXPECT_TRUE(build(leaf("a", {.policy = Basic{}, .disruption = Disruption::All}), wide));
}

TEST(Builder, NeedsTheGateOfComposites) {
  BuildOptions off = options();
  off.gates = off.gates.without(api::Gate::CompositePodGroup);
  const Item root = composite("top", {}, {leaf("a")});
  EXPECT_EQ(sentences(validate(std::span(&root, 1), off)),
            Sentences{"spec.compositePodGroupTemplates: Forbidden"});
}

}  // namespace
}  // namespace muster::workload
