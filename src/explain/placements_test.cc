// Groups that must go into one of the sets of nodes that the configuration names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explain/explain_testing.h"
#include "explain/render.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/plugins/node_set_placements.h"

namespace muster::explain {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

scheduler::Profile with_sets(const std::vector<std::pair<std::string, std::string>>& sets) {
  scheduler::NodeSetPlacementsArgs args;
  for (const auto& [name, selector] : sets)
    args.sets.push_back({name, api::LabelSelector::parse(selector).value()});
  scheduler::Profile profile = scheduler::default_profile();
  profile.add<scheduler::NodeSetPlacements>(1, args);
  return profile;
}

// Two generations of nodes, and one of none.
Yard two_generations() {
  Yard yard;
  for (const auto& [name, generation] :
       {std::pair("a1", "1"), {"a2", "1"}, {"b1", "2"}, {"c1", "3"}})
    yard.add_node({.name = name,
                   .cpu = "4",
                   .labels = {{"generation", generation}, {"rack", std::string(1, name[0])}}});
  return yard;
}

class Placements : public ::testing::Test {
 protected:
  Explanation ask(const Yard& yard, const std::string& group = "train") const {
    Result<Explanation> told =
        explain(yard.objects, GroupKey{GroupKind::PodGroup, "default", group},
                {"default-scheduler", profile_}, {});
    EXPECT_TRUE(told) << told.error().message;
    return *told;
  }
  static std::vector<std::string> advice(const Explanation& told) {
    std::vector<std::string> sentences;
    for (const Relaxation& relaxation : told.relaxations) sentences.push_back(relaxation.sentence);
    return sentences;
  }

  scheduler::Profile profile_ = with_sets({{"old", "generation=1"}, {"new", "generation=2"}});
};

TEST_F(Placements, AreNamed) {
  Yard yard = two_generations().gang({.name = "train", .minimum = 3}, 3, "4");
  const Explanation told = ask(yard);
  EXPECT_EQ(told.state, State::Unschedulable);
  EXPECT_THAT(told.sentence, HasSubstr("placement old comes closest: 2 of 3 pods fit"));
  EXPECT_EQ(told.proof,
            "Proven by counting: no placement has room for more than 2 of the 3 pods it still "
            "needs.");
  const std::string text = render_text(told);
  EXPECT_THAT(text, HasSubstr("at least 3, in one placement"));
  EXPECT_THAT(text, HasSubstr("train: placement old fits 2 of 3 pods"));
  EXPECT_THAT(text, HasSubstr("train: placement new fits 1 of 3 pods"));
  EXPECT_THAT(render_json(told), HasSubstr(R"("placementGenerators")"));
}

TEST_F(Placements, NodesMayJoinOne) {
  const Yard yard = two_generations().gang({.name = "train", .minimum = 3}, 3, "4");
  const Explanation told = ask(yard);
  ASSERT_THAT(advice(told), Contains("put c1 into placement old (label generation=1)"))
      << render_text(told);
  for (const Relaxation& relaxation : told.relaxations) {
    if (relaxation.kind != RelaxationKind::LabelNodes) continue;
    EXPECT_EQ(relaxation.command, "kubectl label --overwrite node c1 generation=1");
    EXPECT_EQ(relaxation.domain, "old");
    Yard after = yard;
    after.objects = edited(yard.objects, relaxation.edits);
    EXPECT_EQ(ask(after).state, State::FitsNow);
  }
  EXPECT_THAT(advice(told), Contains(HasSubstr("add 1 node like a1")));
  EXPECT_THAT(advice(told), Contains(HasSubstr("to placement old")));
}

TEST_F(Placements, NodesAreTakenFromAnotherOneIfNobodyElseCanJoin) {
  Yard yard = two_generations().gang({.name = "train", .minimum = 4}, 4, "4");
  EXPECT_THAT(advice(ask(yard)), Contains("put b1, c1 into placement old (label generation=1)"));
}

TEST_F(Placements, NoLabelHelpsWhereOneMustBeMissing) {
  profile_ = with_sets({{"old", "generation=1,!broken"}, {"new", "generation=2"}});
  Yard yard;
  for (const char* name : {"a1", "a2"})
    yard.add_node({.name = name, .cpu = "4", .labels = {{"generation", "1"}}});
  yard.add_node({.name = "b1", .cpu = "4", .labels = {{"broken", "yes"}}});
  yard.gang({.name = "train", .minimum = 3}, 3, "4");
  EXPECT_THAT(advice(ask(yard)), Not(Contains(HasSubstr("into placement old"))));
}

TEST_F(Placements, MayBeDoneWithout) {
  const Yard yard = two_generations().gang({.name = "train", .minimum = 4}, 4, "4");
  EXPECT_THAT(advice(ask(yard)),
              Contains("let podgroup default/train use several placements (switch "
                       "NodeSetPlacements off in the configuration of scheduler "
                       "default-scheduler)"));
  const Yard larger = two_generations().gang({.name = "train", .minimum = 5}, 5, "4");
  EXPECT_THAT(advice(ask(larger)), Not(Contains(HasSubstr("several placements"))))
      << "there are four nodes";
}

TEST_F(Placements, OfTheRootHoldForItsTree) {
  Yard yard = two_generations();
  yard.composite({.name = "all", .minimum = 2});
  for (const char* name : {"one", "two"})
    yard.gang({.name = name, .minimum = 2, .parent = "all"}, 2, "4");
  const Result<Explanation> told =
      explain(yard.objects, GroupKey{GroupKind::CompositePodGroup, "default", "all"},
              {"default-scheduler", profile_}, {});
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_THAT(told->sentence, HasSubstr("placement old comes closest"));
  EXPECT_THAT(advice(*told), Contains("put b1, c1 into placement old (label generation=1)"));
}

TEST_F(Placements, InsideATopologyAreBothNamed) {
  const Yard yard = two_generations().gang({.name = "train", .minimum = 3, .key = "rack"}, 3, "4");
  const Explanation told = ask(yard);
  EXPECT_THAT(told.sentence, HasSubstr("placement a/old comes closest: 2 of 3 pods fit"));
  EXPECT_THAT(advice(told), Not(Contains(HasSubstr("put "))))
      << "two plugins would have to agree on it";
}

TEST_F(Placements, SayWhereAGroupRuns) {
  Yard yard = two_generations().gang({.name = "train", .minimum = 1}, 1, "4", "b1");
  yard.add_pod({.name = "more", .cpu = "4", .group = "train"});
  const Explanation told = ask(yard);
  EXPECT_THAT(told.sentence, HasSubstr("in placement new"));
  ASSERT_EQ(told.reasons.size(), 1U);
  EXPECT_EQ(told.reasons.front().where, "placement new");
  EXPECT_EQ(told.reasons.front().nodes, 1);
}

}  // namespace
}  // namespace muster::explain
