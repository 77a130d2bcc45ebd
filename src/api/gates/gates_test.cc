#include "api/gates/gates.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>

namespace muster::api {
namespace {

TEST(Gates, TableStandsInTheOrderOfTheEnumeration) {
  ASSERT_EQ(all_gates().size(), kGateCount);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kGateCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(all_gates()[i].gate), i);
    EXPECT_TRUE(names.insert(all_gates()[i].name).second);
  }
}

TEST(Gates, WorkloadGatesAreOnByDefaultAndGroupClaimsAreNot) {
  const Gates gates;
  for (const Gate gate :
       {Gate::GenericWorkload, Gate::TopologyAwareWorkloadScheduling, Gate::CompositePodGroup,
        Gate::PodGroupPreemptionPolicy, Gate::WorkloadWithJob, Gate::MutableMinGroupCount})
    EXPECT_TRUE(gates.on(gate)) << gate_name(gate);
  EXPECT_FALSE(gates.on(Gate::DRAWorkloadResourceClaims));
  EXPECT_FALSE(gates.on(Gate::SchedulerAsyncAPICalls));
  EXPECT_TRUE(gates.check_dependencies());
}

TEST(Gates, EachHasItsDefaultAndItsNeeds) {
  struct Case {
    std::string_view name;
    bool on;
    bool locked;
    std::string_view needs;
  };
  constexpr Case kCases[] = {
      {"GenericWorkload", true, false, ""},
      {"TopologyAwareWorkloadScheduling", true, false, "GenericWorkload "},
      {"CompositePodGroup", true, false, "GenericWorkload TopologyAwareWorkloadScheduling "},
      {"PodGroupPreemptionPolicy", true, false, "GenericWorkload "},
      {"DRAWorkloadResourceClaims", false, false, "DynamicResourceAllocation GenericWorkload "},
      {"WorkloadWithJob", true, false, "GenericWorkload "},
      {"MutableMinGroupCount", true, false, ""},
      {"EvictionRequestAPI", false, false, ""},
      {"NominatedNodeNameForExpectation", true, false, ""},
      {"ClearingNominatedNodeNameAfterBinding", true, false, ""},
      {"SchedulerAsyncPreemption", true, false, ""},
      {"SchedulerAsyncAPICalls", false, false, ""},
      {"OpportunisticBatching", true, false, ""},
      {"DynamicResourceAllocation", true, true, ""},
      {"DeclarativeValidation", true, true, ""},
      {"DeclarativeValidationBeta", true, false, ""},
  };
  ASSERT_EQ(std::size(kCases), kGateCount);
  for (std::size_t i = 0; i < kGateCount; ++i) {
    const GateFacts& facts = all_gates()[i];
    std::string needs;
    for (const Gate needed : facts.needs) needs.append(gate_name(needed)) += ' ';
    EXPECT_EQ(facts.name, kCases[i].name);
    EXPECT_EQ(Gates().on(facts.gate), kCases[i].on) << facts.name;
    EXPECT_EQ(facts.locked, kCases[i].locked) << facts.name;
    EXPECT_EQ(needs, kCases[i].needs) << facts.name;
    const std::string name(facts.name);
    EXPECT_EQ(
        Gates::parse(name + "=false").has_value(),
        !facts.locked && name != "GenericWorkload" && name != "TopologyAwareWorkloadScheduling")
        << name;
    EXPECT_TRUE(Gates::parse(name + "=true")) << name;
  }
}

TEST(Gates, BooleansAreThoseOfGosFlags) {
  for (const std::string yes : {"true", "True", "TRUE", "t", "T", "1"})
    EXPECT_EQ(*Gates::parse("EvictionRequestAPI=" + yes), Gates().with(Gate::EvictionRequestAPI))
        << yes;
  for (const std::string no : {"false", "False", "FALSE", "f", "F", "0"})
    EXPECT_EQ(*Gates::parse("OpportunisticBatching=" + no),
              Gates().without(Gate::OpportunisticBatching))
        << no;
  for (const std::string odd : {"", "yes", "2", "tRUE", "true false"})
    EXPECT_FALSE(Gates::parse("EvictionRequestAPI=" + odd)) << odd;
}

TEST(Gates, BlanksMeanNothingAndTheLastWordCounts) {
  EXPECT_EQ(*Gates::parse("   EvictionRequestAPI =   true , ,OpportunisticBatching=false"),
            Gates().with(Gate::EvictionRequestAPI).without(Gate::OpportunisticBatching));
  EXPECT_EQ(*Gates::parse("EvictionRequestAPI=true,EvictionRequestAPI=false"), Gates());
}

TEST(Gates, ReadsAFlag) {
  const Result<Gates> gates =
      Gates::parse("WorkloadWithJob=false, DRAWorkloadResourceClaims=T,CompositePodGroup=1,");
  ASSERT_TRUE(gates) << gates.error().message;
  EXPECT_EQ(*gates, Gates().without(Gate::WorkloadWithJob).with(Gate::DRAWorkloadResourceClaims));
  EXPECT_EQ(*Gates::parse(""), Gates());
}

TEST(Gates, SaysWhatIsWrongWithAFlag) {
  struct Case {
    std::string_view flag, want;
  };
  constexpr Case kCases[] = {
      {"GangScheduling=true", "unrecognized feature gate: GangScheduling"},
      {"EvictionRequestAPI=true,GangScheduling=true", "unrecognized feature gate: GangScheduling"},
      {"DeclarativeValidation=0",
       "cannot set feature gate DeclarativeValidation to false, feature is locked to true"},
      {"=true", "unrecognized feature gate: "},
      {"CompositePodGroup",
       "missing bool value for feature gate CompositePodGroup: write "
       "CompositePodGroup=true"},
      {"CompositePodGroup=maybe",
       "invalid value of feature gate CompositePodGroup=maybe: want true or false"},
      {"DynamicResourceAllocation=false",
       "cannot set feature gate DynamicResourceAllocation to false, feature is locked to true"},
      {"TopologyAwareWorkloadScheduling=false",
       "CompositePodGroup is enabled, but depends on features that are disabled: "
       "[TopologyAwareWorkloadScheduling]; say CompositePodGroup=false as well, or "
       "TopologyAwareWorkloadScheduling=true"},
      {"GenericWorkload=false,TopologyAwareWorkloadScheduling=false,WorkloadWithJob=false",
       "[CompositePodGroup is enabled, but depends on features that are disabled: "
       "[GenericWorkload TopologyAwareWorkloadScheduling], PodGroupPreemptionPolicy is enabled, "
       "but depends on features that are disabled: [GenericWorkload]]; say "
       "CompositePodGroup=false,PodGroupPreemptionPolicy=false as well, or "
       "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"},
  };
  for (const Case& c : kCases) {
    const Result<Gates> gates = Gates::parse(c.flag);
    ASSERT_FALSE(gates) << c.flag;
    EXPECT_EQ(gates.error().message, c.want);
    EXPECT_EQ(gates.error().reason, Reason::BadRequest);
  }
}

TEST(Gates, EverythingAboutWorkloadsCanBeSwitchedOff) {
  EXPECT_TRUE(
      Gates::parse("GenericWorkload=false,TopologyAwareWorkloadScheduling=false,"
                   "CompositePodGroup=false,PodGroupPreemptionPolicy=false,"
                   "WorkloadWithJob=false"));
}

}  // namespace
}  // namespace muster::api
