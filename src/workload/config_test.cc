#include "workload/config.h"

#include <gtest/gtest.h>

#include <limits>

#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

TEST(PodGroupBlocks, AreRead) {
  const api::Json scheduling = yaml(R"(
schedulingPolicy: {gang: {minCount: 3}}
schedulingConstraints: {topology: [{key: rack}]}
disruptionMode: {all: {}}
resourceClaims:
- {name: gpus, resourceClaimName: shared}
- {name: nics, resourceClaimTemplateName: fast}
)");
  const Config want{
      .policy = Gang{3},
      .topology_keys = {"rack"},
      .disruption = Disruption::All,
      .claims = {{.name = "gpus", .source = Claim::Source::Claim, .source_name = "shared"},
                 {.name = "nics", .source = Claim::Source::Template, .source_name = "fast"}}};
  EXPECT_EQ(map_pod_group_config(pod_group_blocks(scheduling)), want);
}

TEST(CompositeGroupBlocks, AreRead) {
  const api::Json scheduling = yaml(R"(
schedulingPolicy: {gang: {minGroupCount: 2}}
schedulingConstraints: {topology: [{key: zone}]}
disruptionMode: {single: {}}
resourceClaims: [{name: gpus, resourceClaimName: shared}]
)");
  const Config want{.policy = Gang{2}, .topology_keys = {"zone"}, .disruption = Disruption::Single};
  EXPECT_EQ(map_composite_group_config(composite_group_blocks(scheduling)), want)
      << "and a composite has no claims";
  EXPECT_EQ(
      map_composite_group_config(composite_group_blocks(yaml("{schedulingPolicy: {basic: {}}}"))),
      Config{.policy = Basic{}});
}

TEST(PodGroupBlocks, SayNothingWhereTheyAreEmpty) {
  for (const char* text :
       {"{}", "{schedulingPolicy: {}, schedulingConstraints: {}, disruptionMode: {}}",
        "{schedulingConstraints: {topology: []}, resourceClaims: []}",
        "{schedulingPolicy: null, disruptionMode: null}"}) {
    const api::Json scheduling = yaml(text);
    EXPECT_EQ(map_pod_group_config(pod_group_blocks(scheduling)), Config{}) << text;
    EXPECT_EQ(map_composite_group_config(composite_group_blocks(scheduling)), Config{}) << text;
  }
}

TEST(PodGroupBlocks, BasicAndSingleWinOverTheirRivals) {
  const api::Json scheduling = yaml(
      "{schedulingPolicy: {basic: {}, gang: {minCount: 2}}, disruptionMode: {single: {}, all: "
      "{}}}");
  EXPECT_EQ(map_pod_group_config(pod_group_blocks(scheduling)),
            (Config{.policy = Basic{}, .disruption = Disruption::Single}));
}

TEST(PodGroupBlocks, CountsThatNoFieldHoldsAreNone) {
  const auto minimum = [](std::string_view count) {
    const api::Json scheduling =
        yaml("{schedulingPolicy: {gang: {minCount: " + std::string(count) + "}}}");
    return map_pod_group_config(pod_group_blocks(scheduling)).gang()->minimum;
  };
  EXPECT_EQ(minimum("2147483647"), 2147483647);
  EXPECT_EQ(minimum("2147483648"), std::nullopt);
  EXPECT_EQ(minimum("-2147483648"), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(minimum("-2147483649"), std::nullopt);
}

TEST(Merge, PrioritiesOfTheUserCount) {
  const Config defaults{.priority_class = "low", .priority = 1, .preemption_policy = "Never"};
  const Config user{
      .priority_class = "high", .priority = 2, .preemption_policy = "PreemptLowerPriority"};
  EXPECT_EQ(merge(defaults, user), user);
  EXPECT_EQ(merge(defaults, {.priority = 0}).priority, 0);
}

TEST(Merge, ReplacesWhatTheUserSaysAndNothingElse) {
  const Claim one{.name = "one", .source = Claim::Source::Claim, .source_name = "c"};
  const Claim two{.name = "two", .source = Claim::Source::Claim, .source_name = "c"};
  const Config defaults{.policy = Gang{5},
                        .topology_keys = {"zone", "rack"},
                        .disruption = Disruption::Single,
                        .claims = {one},
                        .priority_class = "low",
                        .preemption_policy = "Never"};
  EXPECT_EQ(merge(defaults, {}), defaults);
  EXPECT_EQ(merge({}, defaults), defaults);

  const Config user{
      .policy = Gang{}, .topology_keys = {"host"}, .disruption = Disruption::All, .claims = {two}};
  const Config both = merge(defaults, user);
  EXPECT_EQ(both.policy, Policy(Gang{})) << "a gang without a minimum does not inherit one";
  EXPECT_EQ(both.topology_keys, std::vector<std::string>{"host"});
  EXPECT_EQ(both.disruption, Disruption::All);
  EXPECT_EQ(both.claims, std::vector<Claim>{two});
  EXPECT_EQ(both.priority_class, "low");
  EXPECT_EQ(both.preemption_policy, "Never");
  EXPECT_EQ(merge(defaults, {.policy = Basic{}}).policy, Policy(Basic{}));
}

}  // namespace
}  // namespace muster::workload
