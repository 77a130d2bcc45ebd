#include <gtest/gtest.h>

#include "explain/explain_testing.h"
#include "explain/render.h"
#include "explain/words.h"

// What was made for one object, in one picture.
namespace muster::explain {
namespace {

const WorkloadOwner kSet{"jobset.x-k8s.io", "JobSet", "default", "maker"};

// `running` replicas of two pods on a node each, `waiting` ones that find no room.
Yard replicas(int running, int waiting) {
  Yard yard;
  yard.rack("r1", running == 0 ? 1 : running, 8, running == 0 ? 8 : 0);
  for (int i = 0; i < running + waiting; ++i)
    yard.gang({.name = fmt::format("set-{}", i), .minimum = 2, .workload = "w", .maker = "JobSet"},
              2, "4", i < running ? fmt::format("r1-{}", i) : "");
  return yard;
}

TEST(OwnerPicture, ShowsAllTreesAndExplainsTheFirstThatWaits) {
  const Result<Explanation> said = replicas(2, 1).ask(kSet);
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->kind, "JobSet");
  EXPECT_EQ(said->name, "maker");
  EXPECT_EQ(said->state, State::Unschedulable);
  const std::string text = render_text(*said);
  EXPECT_TRUE(
      text.starts_with("JobSet default/maker: 2 of 3 groups are scheduled. PodGroup "
                       "default/set-2 is unschedulable: "))
      << text;
  EXPECT_NE(text.find(R"(
Tree: state, scheduled, minimum
  jobset/maker         unschedulable  2 of 3 groups
  ├─ podgroup/set-0    scheduled      2 of 2 pods    at least 2
  ├─ podgroup/set-1    scheduled      2 of 2 pods    at least 2
  └─ podgroup/set-2 *  unschedulable  0 of 2 pods    at least 2
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("What would help"), std::string::npos) << text;
}

TEST(OwnerPicture, OfWhatRunsSaysWhereAllOfItIs) {
  const Result<Explanation> said = replicas(3, 0).ask(kSet);
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->sentence, "JobSet default/maker is scheduled: all of its 3 groups are.");
  ASSERT_EQ(said->placements.size(), 3U);
  EXPECT_EQ(said->placements[2].node, "r1-2");
  EXPECT_EQ(said->placements[2].pods, 2);
}

TEST(OwnerPicture, OfManyShowsThoseThatWaitFirst) {
  const Result<Explanation> said = replicas(40, 2).ask(kSet);
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->owner->groups, 42);
  EXPECT_EQ(said->owner->scheduled, 40);
  EXPECT_EQ(said->tree.size(), 24U);
  EXPECT_EQ(said->owner->left_out, 18);
  EXPECT_EQ(said->tree[2].key.name, "set-2") << "by number";
  EXPECT_EQ(said->tree.back().key.name, "set-41");
  EXPECT_NE(render_text(*said).find("and 18 more groups\n"), std::string::npos);
}

TEST(OwnerPicture, OfManyThatWaitAFewArePlanned) {
  const Result<Explanation> said = replicas(1, 30).ask(kSet);
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->tree.size(), 10U) << "one that runs, the first that waits, eight beside it";
  EXPECT_EQ(said->owner->left_out, 21);
}

TEST(OwnerPicture, OfOneTreeIsThatTreeBelowTheObject) {
  Yard yard = Yard().rack("r1", 2, 8);
  yard.composite({.name = "root", .minimum = 2, .workload = "w", .maker = "JobSet"});
  for (const std::string name : {"a", "b"})
    yard.gang({.name = name, .minimum = 1, .parent = "root", .workload = "w", .maker = "JobSet"}, 1,
              "1");
  const Result<Explanation> said = yard.ask(kSet);
  ASSERT_TRUE(said) << said.error().message;
  const std::string text = render_text(*said);
  EXPECT_TRUE(text.starts_with("CompositePodGroup default/root fits now")) << text;
  EXPECT_NE(text.find("  jobset/maker"), std::string::npos) << text;
  EXPECT_NE(text.find("  └─ compositepodgroup/root *"), std::string::npos) << text;
  EXPECT_NE(text.find("     ├─ podgroup/a"), std::string::npos) << text;
}

TEST(OwnerPicture, NumbersInNamesCountAsSuch) {
  EXPECT_TRUE(counts_before("a-2-x", "a-10-x"));
  EXPECT_FALSE(counts_before("a-10-x", "a-2-x"));
  EXPECT_TRUE(counts_before("a-2", "a-2-x"));
  EXPECT_FALSE(counts_before("a-2", "a-2"));
  EXPECT_TRUE(counts_before("a2b3", "a2b10"));
  EXPECT_TRUE(counts_before("a-x", "b-1"));
}

}  // namespace
}  // namespace muster::explain
