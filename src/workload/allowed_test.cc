#include "workload/allowed.h"

#include <gtest/gtest.h>

#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

const Allowed kBasicSingle{.policies = {PolicyKind::Basic},
                           .disruption_modes = {Disruption::Single}};
const Allowed kEverything{.policies = {PolicyKind::Basic, PolicyKind::Gang},
                          .disruption_modes = {Disruption::Single, Disruption::All}};

TEST(SchedulingPolicyBlock, IsRefusedUnlessAllowedAndWhole) {
  struct Case {
    const char* block;
    const Allowed& allowed;
    Sentences want;
  };
  const Case cases[] = {
      {"{basic: {}}", kBasicSingle, {}},
      {"{gang: {}}", kEverything, {}},
      {"{gang: {minCount: 1}}", kEverything, {}},
      {"{gang: {}}",
       kBasicSingle,
       {"spec.policy: Forbidden: gang scheduling policy is not supported by this controller"}},
      {"{basic: {}}",
       {},
       {"spec.policy: Forbidden: basic scheduling policy is not supported by this controller"}},
      {"{}",
       kEverything,
       {"spec.policy: Invalid value: \"\": must specify one of: `basic`, `gang`"}},
      {"{basic: {}, gang: {}}",
       kEverything,
       {"spec.policy: Invalid value: \"{basic, gang}\": must specify exactly one of: `basic`, "
        "`gang`"}},
      {"{gang: {minCount: 0}}",
       kEverything,
       {"spec.policy.gang.minCount: Invalid value: 0: must be greater than or equal to 1"}},
  };
  for (const Case& each : cases) {
    api::FieldErrors errors;
    const api::Json block = yaml(each.block);
    validate_scheduling_policy(&block, Level::PodGroup, each.allowed, api::FieldPath("spec.policy"),
                               errors);
    EXPECT_EQ(sentences(errors.causes()), each.want) << each.block;
  }
}

TEST(SchedulingPolicyBlock, OfACompositeCountsGroups) {
  api::FieldErrors errors;
  const api::Json block = yaml("{gang: {minGroupCount: -2}}");
  validate_scheduling_policy(&block, Level::CompositePodGroup, kEverything,
                             api::FieldPath("spec.policy"), errors);
  EXPECT_EQ(
      sentences(errors.causes()),
      Sentences{
          "spec.policy.gang.minGroupCount: Invalid value: -2: must be greater than or equal to 1"});
}

TEST(DisruptionModeBlock, IsRefusedUnlessAllowedAndWhole) {
  struct Case {
    const char* block;
    const Allowed& allowed;
    Sentences want;
  };
  const Case cases[] = {
      {"{single: {}}", kBasicSingle, {}},
      {"{all: {}}", kEverything, {}},
      {"{all: {}}",
       kBasicSingle,
       {"spec.mode: Forbidden: the disruptionMode `all` is not supported by this controller"}},
      {"{single: {}}",
       {},
       {"spec.mode: Forbidden: the disruptionMode `single` is not supported by this controller"}},
      {"{}", kEverything, {"spec.mode: Invalid value: \"\": must specify one of: `single`, `all`"}},
  };
  for (const Case& each : cases) {
    api::FieldErrors errors;
    const api::Json block = yaml(each.block);
    validate_disruption_mode(&block, each.allowed, api::FieldPath("spec.mode"), errors);
    EXPECT_EQ(sentences(errors.causes()), each.want) << each.block;
  }
}

TEST(ConstraintsBlock, HasOneTopologyKeyAtMost) {
  api::FieldErrors errors;
  const api::Json two = yaml("{topology: [{key: a}, {key: b}]}");
  const api::Json nameless = yaml("{topology: [{}]}");
  const api::FieldPath path("spec.constraints");
  validate_scheduling_constraints(&two, path, errors);
  validate_scheduling_constraints(&nameless, path, errors);
  EXPECT_EQ(sentences(errors.causes()),
            (Sentences{"spec.constraints.topology: Too many: 2: must have at most 1 item",
                       "spec.constraints.topology[0].key: Required value"}));
}

TEST(ClaimsBlock, NeedsNamesAndOneSourceEach) {
  api::FieldErrors errors;
  const api::Json claims = yaml("[{name: a}, {name: a, resourceClaimName: c}]");
  validate_resource_claims(&claims, api::FieldPath("spec.claims"), errors);
  ASSERT_EQ(errors.size(), 2U) << errors.text();
  EXPECT_TRUE(sentences(errors.causes())[0].starts_with("spec.claims[1]: Duplicate value"));
  EXPECT_TRUE(sentences(errors.causes())[1].starts_with("spec.claims[0]: Invalid value"));
}

TEST(Blocks, MayBeMissing) {
  api::FieldErrors errors;
  const api::FieldPath path("spec");
  validate_scheduling_policy(nullptr, Level::PodGroup, {}, path, errors);
  validate_scheduling_constraints(nullptr, path, errors);
  validate_disruption_mode(nullptr, {}, path, errors);
  validate_resource_claims(nullptr, path, errors);
  EXPECT_TRUE(errors.empty());
}

}  // namespace
}  // namespace muster::workload
