#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

// What an attempt at a tree gets, and what its answer means for the next one.
namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class GroupAttempts : public QueueTest {
 protected:
  using QueueTest::QueueTest;
  Names put_gang(const std::string& name, std::uint64_t class_hash = 1) {
    put_group(name, 2);
    Names pods = {name + "a", name + "b"};
    for (const std::string& pod : pods)
      put(pod, {.group = name, .class_hash = class_hash, .created = "1970-01-01T00:16:40Z"});
    return pods;
  }
  void finish_with(const std::string& name, const Plan& plan) {
    queue_.finish(popped_.at(name), plan, now_);
  }
  // Attempts of that cost, the second after a while, each followed by an event.
  void refuse_twice(const std::string& name, std::uint64_t steps, std::uint64_t rows = 0) {
    for (const seconds pause : {seconds{60}, seconds{0}}) {
      ASSERT_EQ(pop(), fmt::format("{0}:{0}a,{0}b", name));
      Plan plan;
      plan.steps = steps;
      plan.rows_read = rows;
      for (const char* pod : {"a", "b"})
        plan.refusals.push_back({make_pod(name + pod), Outcome::Unschedulable, "", {"Fit"}});
      plan.groups.push_back({leaf(name), nullptr, Outcome::Unschedulable, "", ""});
      finish_with(name, plan);
      now_ += pause;
      node_added();
    }
  }
};

// --- In which order.

TEST_F(GroupAttempts, PodsThatWereTriedMoreOftenGoFirstThenThoseThatWaitLonger) {
  put_group("g", 2);
  put("z", {.group = "g"});
  put("y", {.group = "g"});
  ASSERT_EQ(pop(), "g:y,z");
  refuse_group("g", {"y", "z"});
  now_ += seconds{1};
  put("x", {.group = "g"});
  now_ += seconds{1};
  put("w", {.group = "g"});
  EXPECT_EQ(pop(), "g:y,z,x,w");
}

TEST_F(GroupAttempts, ATreeWhosePodsComeAgainWaitsSinceThen) {
  put_gang("g");
  remove("ga");
  remove("gb");
  now_ += seconds{1};
  put("lone");
  now_ += seconds{1};
  put_gang("g");
  EXPECT_EQ(pop(), "lone");
  EXPECT_EQ(pop(), "g:ga,gb");
}

TEST_F(GroupAttempts, ATreeIsTriedByThePriorityOfItsGroup) {
  put_gang("g");
  now_ += seconds{1};
  put_gang("h");
  put_group("h", 2, "", 5);
  ASSERT_EQ(pop().substr(0, 2), "h:");
  put_group("h", 2, "", 0);
  put("lone", {.priority = 1});
  refuse_group("h", {"ha", "hb"});
  now_ += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "lone");
  EXPECT_EQ(pop(), "g:ga,gb");
  EXPECT_EQ(pop(), "h:ha,hb");
}

// --- What happened meanwhile.

TEST_F(GroupAttempts, WhoJoinsInFlightGetsTheTreeOneMoreAttempt) {
  put_gang("g");
  ASSERT_EQ(pop(), "g:ga,gb");
  put("gc", {.group = "g", .class_hash = 1});
  refuse_group("g", {"ga", "gb"});
  ASSERT_EQ(pop(), "g:ga,gb,gc");
  refuse_group("g", {"ga", "gb", "gc"});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().resting, 1U);
}

TEST_F(GroupAttempts, AStatusWriteInFlightGetsItNone) {
  const Names pods = put_gang("g");
  ASSERT_EQ(pop(), "g:ga,gb");
  put_group("g", 2);
  refuse_group("g", pods);
  EXPECT_EQ(pop(), "");
}

// A new group of the same name has failed at nothing.
TEST_F(GroupAttempts, AGroupThatGoesInFlightTakesItsFailuresAlong) {
  const Names pods = put_gang("g");
  const Ending error{.refused = pods, .outcome = Outcome::Error, .root = Outcome::Error};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(pop(), "g:ga,gb");
    finish("g", error);
    now_ += seconds{10};
  }
  ASSERT_EQ(pop(), "g:ga,gb");
  remove_group("g");
  finish("g", error);
  put_group("g", 2);
  ASSERT_EQ(pop(), "g:ga,gb");
  finish("g", error);
  now_ += seconds{2};
  EXPECT_EQ(pop(), "g:ga,gb") << "its first error: a second, and not eight";
}

// --- What the plan says.

TEST_F(GroupAttempts, AnEmptyPlanRefusesTheTree) {
  put_gang("g");
  ASSERT_EQ(pop(), "g:ga,gb");
  finish_with("g", {});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().resting, 1U);
  node_added();
  EXPECT_EQ(queue_.counts().backoff, 1U);
}

TEST_F(GroupAttempts, APlanThatOnlyPlacesPodsPlacesTheTree) {
  put_gang("g");
  put("gc", {.group = "g", .class_hash = 1});
  ASSERT_EQ(pop(), "g:ga,gb,gc");
  Plan plan;
  for (const char* pod : {"ga", "gb"}) {
    model_.assume(model_.pod("ns", pod), "n1");
    plan.assignments.push_back({model_.pod("ns", pod), "n1"});
  }
  finish_with("g", plan);
  node_added();
  EXPECT_EQ(queue_.counts().active, 1U) << "no backoff for what is left over";
}

TEST_F(GroupAttempts, AMemberByItselfThatThePlanDoesNotMentionIsRefused) {
  put_group("web", 0);
  put("a", {.group = "web"});
  ASSERT_EQ(pop(), "web:a");
  finish_with("web", {});
  EXPECT_EQ(queue_.counts().resting, 1U);
  node_added();
  EXPECT_EQ(pop(), "web:a");
}

// --- Kinds of refusal.

TEST_F(GroupAttempts, PodsOfOneClassAreAskedAboutOnceAndOthersEach) {
  put_group("g", 4);
  for (const char* pod : {"a", "b"}) put(pod, {.group = "g", .class_hash = 1});
  for (const char* pod : {"c", "d"}) put(pod, {.group = "g"});
  ASSERT_EQ(pop(), "g:a,b,c,d");
  refuse_group("g", {"a", "b", "c", "d"});
  asked_ = 0;
  node_added();
  EXPECT_EQ(asked_, 3);
}

// Those that fit wait for nothing: their group is held by those that did not.
TEST_F(GroupAttempts, PodsThatFitDoNotWakeTheirTree) {
  const Names pods = put_gang("g");
  ASSERT_EQ(pop(), "g:ga,gb");
  Plan plan;
  plan.refusals.push_back({make_pod("ga"), Outcome::Unschedulable, "", {"Taint"}});
  plan.refusals.push_back({make_pod("gb"), Outcome::Unschedulable, "", {}});
  plan.groups.push_back({leaf("g"), nullptr, Outcome::Unschedulable, "", ""});
  finish_with("g", plan);
  pod_deleted();
  EXPECT_EQ(queue_.counts().resting, 1U) << "room does not lift a taint";
  node_added();
  EXPECT_EQ(queue_.counts().resting, 0U);
}

TEST_F(GroupAttempts, ATreeWithVeryManyKindsWaitsForAnyRoom) {
  for (const int kinds : {64, 65}) {
    const std::string group = fmt::format("g{}", kinds);
    put_group(group, kinds);
    Names pods;
    for (int i = 0; i < kinds; ++i) {
      pods.push_back(fmt::format("{}-{}", group, i));
      put(pods.back(), {.group = group});
    }
    ASSERT_NE(pop(), "");
    refuse_group(group, pods);
    asked_ = 0;
    now_ += seconds{60};
    node_added();
    EXPECT_EQ(asked_, kinds == 64 ? 64 : 0);
    EXPECT_EQ(queue_.counts().active, 1U);
    ASSERT_NE(pop(), "");
    place_group(group, pods);
  }
}

// --- Trees that are alike.

TEST_F(GroupAttempts, TreesOfPodsLikeNoOtherAreTriedEach) {
  for (const char* name : {"g", "h"}) {
    const Names pods = put_gang(name, 0);
    ASSERT_NE(pop(), "");
    refuse_group(name, pods);
  }
  now_ += seconds{60};
  node_added();
  EXPECT_EQ(queue_.counts().active, 2U);
}

TEST_F(GroupAttempts, SoIsATreeThatRoomIsKeptFor) {
  for (const char* name : {"g", "h", "i"}) {
    const Names pods = put_gang(name);
    if (*name == 'h') model_.nominations().nominate(model_.pod("ns", "hb"), "n1");
    ASSERT_NE(pop(), "");
    refuse_group(name, pods);
  }
  now_ += seconds{60};
  node_added();
  EXPECT_EQ(queue_.counts().active, 2U) << "g for itself and i, h for itself";
}

// --- What attempts cost. A tree takes turns as long as four times its last attempt; backoffs end
// with the second.

struct CostCase {
  std::uint64_t steps, rows;
  seconds waits;  // at the second event
};

class CostOfATree : public GroupAttempts, public ::testing::WithParamInterface<CostCase> {};

TEST_P(CostOfATree, DecidesHowLongItWaitsForItsNextTurn) {
  put_gang("g");
  refuse_twice("g", GetParam().steps, GetParam().rows);
  EXPECT_EQ(queue_.next_deadline().value_or(now_) - now_, GetParam().waits);
}

// Each pod counts as four steps, and so do 32 rows of the node table as one.
INSTANTIATE_TEST_SUITE_P(All, CostOfATree,
                         ::testing::Values(CostCase{250'000 - 8 - 1, 0, seconds{1}},
                                           CostCase{250'000 - 8, 0, seconds{2}},
                                           CostCase{0, 32UL * (250'000 - 8) - 1, seconds{1}},
                                           CostCase{0, 32UL * (250'000 - 8), seconds{2}},
                                           CostCase{2'250'000 - 8, 0, seconds{10}},
                                           CostCase{2'500'000 - 8, 0, seconds{11}},
                                           CostCase{900'000'000, 0, seconds{11}}));

TEST_F(GroupAttempts, ACheapTreeNeedsNoTurns) {
  put_gang("cheap");
  refuse_twice("cheap", 2'000 - 8);
  EXPECT_EQ(pop(), "cheap:cheapa,cheapb") << "idle, one need not wait for its backoff";
  put_gang("costly", 2);
  refuse_twice("costly", 2'000 - 8 + 1);
  EXPECT_EQ(pop(), "");
}

// --- Trees that age.

QueueOptions aged_after(Duration duration) {
  QueueOptions options;
  options.aged_after = duration;
  return options;
}

class AgingTrees : public GroupAttempts {
 protected:
  AgingTrees() : GroupAttempts(aged_after(minutes{2})) {}
};

TEST_F(AgingTrees, AreTriedForItOnce) {
  const Names pods = put_gang("g");
  ASSERT_EQ(pop(), "g:ga,gb");
  refuse_group("g", pods);
  now_ += minutes{2} - milliseconds{1};
  EXPECT_EQ(pop(), "");
  now_ += milliseconds{1};
  ASSERT_EQ(pop(), "g:ga,gb");
  refuse_group("g", pods);
  EXPECT_EQ(queue_.next_deadline(), now_ + minutes{5});
}

TEST_F(AgingTrees, OfThoseThatAreAlikeOneIsTried) {
  for (const char* name : {"g", "h"}) {
    const Names pods = put_gang(name);
    ASSERT_NE(pop(), "");
    refuse_group(name, pods);
  }
  now_ += minutes{2};
  ASSERT_EQ(pop(), "g:ga,gb");
  EXPECT_EQ(pop(), "");
  refuse_group("g", {"ga", "gb"});
  EXPECT_EQ(pop(), "");
}

class NeverAgingTrees : public GroupAttempts {
 protected:
  NeverAgingTrees() : GroupAttempts(aged_after(Duration::max())) {}
};

TEST_F(NeverAgingTrees, AreNotTriedForTheirAge) {
  const Names pods = put_gang("g");
  ASSERT_EQ(pop(), "g:ga,gb");
  refuse_group("g", pods);
  EXPECT_EQ(queue_.next_deadline(), now_ + minutes{5});
}

}  // namespace
}  // namespace muster::scheduler
