#include "scheduler/framework/standing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/framework/standing_testing.h"

namespace muster::scheduler {
namespace {

class StandingTest : public StandingBench {};

TEST_F(StandingTest, TheBestIsWhoHasMostThenTheFirstByName) {
  node("b", {.local = 10});
  node("a", {.local = 10});
  node("c", {.local = 9});
  profile_.add<Room>(1);
  profile_.add<Local>(2);
  EXPECT_EQ(picked(), "a 20");
  node("c", {.local = 11});
  EXPECT_EQ(picked(), "c 22");
  node("c", {.room = 0, .local = 11});
  EXPECT_EQ(picked(), "a 20");
  profile_.add<Raw>(3);
  node("b", {.local = 10, .raw = 1});
  EXPECT_EQ(picked(), "b 320");
  node("c", {.local = 90, .raw = 1});
  EXPECT_EQ(picked(), "c 480");
  node("a", {.local = 60, .raw = 3});
  EXPECT_EQ(picked(), "a 420") << "c has a third of its raw score, 33 and not 100";
  for (const char* name : {"a", "b", "c"}) node(name, {.room = 0});
  EXPECT_EQ(picked(), "none");
}

TEST_F(StandingTest, OneRawScoreForAllIsAddedToo) {
  for (const char* name : {"a", "b"}) node(name, {.local = 5, .raw = 7});
  profile_.add<Local>(1);
  profile_.add<Raw>(2);
  EXPECT_EQ(picked(), "a 205");
}

// More raw scores than there may be groups: each node for itself.
TEST_F(StandingTest, ManyRawScoresAreComparedNodeByNode) {
  profile_.add<Room>(1);
  profile_.add<Local>(2);
  profile_.add<Raw>(3);
  for (int i = 0; i < 600; ++i)
    node(fmt::format("n{:03}", i), {.rack = i % 7, .local = (i * 37) % 101, .raw = i});
  EXPECT_EQ(picked(), naive_pick({}));
  Standing standing = make();
  standing.catch_up();
  for (int i = 599; i >= 597; --i) {
    node(fmt::format("n{:03}", i), {.room = i % 2, .local = 100 - i % 9, .raw = 700 - i});
    standing.catch_up();
    expect_true(standing, {}, fmt::format("n{}", i));
  }
  profile_.add<RackLimit>(1, RackLimit::Form{.limit = 1, .has_places = true});
  Standing limited = make();
  limited.catch_up();
  const StandingRules rules{.limit = RackLimit::Form{.limit = 1}};
  EXPECT_EQ(text_of(limited.pick()), naive_pick(rules));
  cluster_.assume(PodSample{.name = "p"}.make(), cluster_.node_name(limited.pick()->node));
  limited.catch_up();
  EXPECT_EQ(text_of(limited.pick()), naive_pick(rules));
}

TEST_F(StandingTest, SaysWhoRefusesFirst) {
  node("full", {.room = 0, .rack = 1});
  node("free", {.rack = 1});
  node("other", {.rack = 2});
  cluster_.assume(PodSample{.name = "p"}.make(), "free");
  profile_.add<Room>(1);
  profile_.add<RackLimit>(1, RackLimit::Form{.limit = 1});
  Standing standing = make();
  standing.catch_up();
  EXPECT_EQ(standing.ask(row("full")).plugin, "Room");
  EXPECT_EQ(standing.ask(row("full")).verdict.reasons().at(0), "no room");
  EXPECT_EQ(standing.ask(row("free")).plugin, "RackLimit");
  EXPECT_EQ(standing.ask(row("free")).verdict.reasons().at(0), "rack is full");
  EXPECT_TRUE(standing.ask(row("other")).verdict.accepted());
  EXPECT_EQ(standing.ask(row("other")).plugin, "");
  EXPECT_EQ(standing.cap_exactness(), Exactness::UpperBound);
  EXPECT_TRUE(standing.has_domain_caps());
}

TEST_F(StandingTest, ReadsOnlyTheRowsThatChanged) {
  for (int i = 0; i < 100; ++i) node(fmt::format("n{:02}", i), {});
  profile_.add<Room>(1);
  profile_.add<Local>(1);
  Standing standing = make();
  standing.catch_up();
  const std::uint64_t before = standing.rows_read();
  EXPECT_EQ(before, cluster_.rows());
  standing.catch_up();
  EXPECT_EQ(standing.rows_read(), before);
  for (const char* name : {"p", "q"}) cluster_.assume(PodSample{.name = name}.make(), "n07");
  standing.catch_up();
  EXPECT_EQ(standing.rows_read(), before + 1);
  node("n09", {.local = 1});
  standing.catch_up();
  EXPECT_EQ(standing.rows_read(), before + 2);
  EXPECT_EQ(text_of(standing.pick()), "n09 1");
}

}  // namespace
}  // namespace muster::scheduler
