#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using LonePods = QueueTest;

TEST_F(LonePods, ArePoppedByPriorityThenAgeThenArrival) {
  put("low-1");
  put("low-2");
  now_ += seconds{1};
  put("low-3");
  put("high", {.priority = 10});
  EXPECT_EQ(pop(), "high");
  EXPECT_EQ(pop(), "low-1");
  EXPECT_EQ(pop(), "low-2");
  EXPECT_EQ(pop(), "low-3");
  EXPECT_EQ(pop(), "");
}

TEST_F(LonePods, RestUntilAnEventCouldHelp) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a", {"Taint"});
  EXPECT_EQ(queue_.counts().resting, 1U);
  now_ += seconds{30};
  pod_deleted();
  EXPECT_EQ(pop(), "") << "a freed slot does not lift a taint";
  node_added();
  EXPECT_EQ(pop(), "a");
}

// B2: however many wait, an event that concerns none of the plugins asks about nobody.
TEST_F(LonePods, AreNotAskedAboutEventsThatNobodyListensTo) {
  for (int i = 0; i < 100; ++i)
    put(fmt::format("p{}", i), {.class_hash = static_cast<std::uint64_t>(i + 1)});
  for (std::string next = pop(); !next.empty(); next = pop()) refuse(next, {"Taint"});
  asked_ = 0;
  pod_deleted();
  EXPECT_EQ(asked_, 0);
  node_added();
  EXPECT_EQ(asked_, 100);
}

TEST_F(LonePods, AreTakenFromBackoffWhenNothingElseIsActive) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a");
  node_added();
  EXPECT_EQ(queue_.counts().backoff, 1U);
  put("b");
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, WaitOutTheBackoffAfterAnError) {
  put("a");
  for (const int wait_s : {1, 2, 4, 8, 10, 10}) {
    EXPECT_EQ(pop(), "a");
    finish("a", {.refused = {"a"}, .outcome = Outcome::Error});
    node_added();
    EXPECT_EQ(pop(), "");
    now_ += seconds{wait_s} + milliseconds{999};
    EXPECT_EQ(pop(), "") << "the second of expiry still counts";
    now_ += milliseconds{1};
    EXPECT_EQ(queue_.next_deadline(), now_);
  }
}

TEST_F(LonePods, OfThoseInBackoffTheFirstToExpireIsTakenFirst) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a");
  node_added();
  EXPECT_EQ(pop(), "a");
  refuse("a");
  put("b");
  EXPECT_EQ(pop(), "b");
  refuse("b");
  node_added();
  EXPECT_EQ(queue_.counts().backoff, 2U);
  EXPECT_EQ(pop(), "b") << "refused once, it waits for a second; a waits for two";
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, ARejectionEndsARowOfErrors) {
  put("a");
  EXPECT_EQ(pop(), "a");
  finish("a", {.refused = {"a"}, .outcome = Outcome::Error});
  now_ += seconds{2};
  EXPECT_EQ(pop(), "a");
  node_added();
  refuse("a");
  EXPECT_EQ(pop(), "a") << "in the backoff of a rejection, from which an idle scheduler takes it";
}

TEST_F(LonePods, RefusedByNobodyWaitForANode) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a", {});
  EXPECT_EQ(pop(), "");
  node_added();
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, AreTriedAgainAfterFiveMinutesAnyway) {
  put("a");
  EXPECT_EQ(pop(), "a");
  refuse("a", {"Nobody"});
  EXPECT_EQ(queue_.next_deadline(), now_ + minutes{5});
  now_ += minutes{5};
  EXPECT_EQ(pop(), "a");
}

TEST_F(LonePods, AreKnownToBeTriedWithoutAnEvent) {
  for (const char* pod : {"a", "b", "c"}) {
    put(pod, {.class_hash = 1});
    EXPECT_EQ(pop(), pod);
    EXPECT_FALSE(queue_.is_flushed(pod));
    refuse(pod, {"Nobody"});
  }
  now_ += minutes{5};
  ASSERT_EQ(pop(), "a");
  EXPECT_TRUE(queue_.is_flushed("a"));
  place("a");
  ASSERT_EQ(pop(), "b") << "there may be room for the next one";
  EXPECT_TRUE(queue_.is_flushed("b"));
  refuse("b");
  EXPECT_FALSE(queue_.is_flushed("b"));
  node_added();
  ASSERT_NE(pop(), "");
  EXPECT_FALSE(queue_.is_flushed("b"));
  EXPECT_FALSE(queue_.is_flushed("c"));
}

TEST_F(LonePods, OnlyUpToThePriorityOfAReleasedNomination) {
  put("low", {.priority = 1});
  put("high", {.priority = 5});
  EXPECT_EQ(pop(), "high");
  refuse("high");
  EXPECT_EQ(pop(), "low");
  refuse("low");
  pod_deleted(3);
  EXPECT_EQ(pop(), "low");
  EXPECT_EQ(pop(), "");
}

TEST_F(LonePods, WaitBehindTheirGates) {
  put("a", {.gated = true});
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().gated, 1U);
  put("b");
  put("a");
  EXPECT_EQ(queue_.counts().gated, 0U);
  EXPECT_EQ(pop(), "a") << "it has been waiting longer";
  EXPECT_EQ(pop(), "b");
}

TEST_F(LonePods, ReplayEventsThatCameInFlight) {
  put("a");
  put("b");
  EXPECT_EQ(pop(), "a");
  node_added();
  refuse("a");
  EXPECT_EQ(queue_.counts().backoff, 1U);
  EXPECT_EQ(pop(), "b");
  refuse("b");
  EXPECT_EQ(queue_.counts().resting, 1U) << "the event came before b was popped";
}

TEST_F(LonePods, OfOneShapeAreWokenOneAtATime) {
  for (const char* name : {"a", "b", "c", "d"}) put(name, {.class_hash = 7});
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(pop(), name);
    refuse(name);
  }
  now_ += seconds{60};
  asked_ = 0;
  node_added();
  EXPECT_EQ(asked_, 1) << "one answer is good for all";
  EXPECT_EQ(queue_.counts().active, 1U);
  EXPECT_EQ(pop(), "a");
  place("a");
  EXPECT_EQ(pop(), "b");
  refuse("b");
  EXPECT_EQ(pop(), "") << "what b was refused, c would be";
  EXPECT_EQ(queue_.counts().resting, 3U);
  now_ += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "c");
  remove("c");
  EXPECT_EQ(pop(), "d") << "the next takes the place of one that is deleted";
}

TEST_F(LonePods, OfOneShapeFollowTheirSpokesmanToOtherPlugins) {
  for (const char* name : {"a", "b", "c"}) put(name, {.class_hash = 7});
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(pop(), name);
    refuse(name, {"Fit"});
  }
  now_ += seconds{60};
  pod_deleted();
  EXPECT_EQ(pop(), "a");
  refuse("a", {"Taint"});
  now_ += seconds{60};
  pod_deleted();
  EXPECT_EQ(pop(), "") << "all of them now wait for a taint to go";
  node_added();
  EXPECT_EQ(pop(), "b");
}

TEST_F(LonePods, OfOneShapeGoOnAfterAnErrorOfTheFirst) {
  for (const char* name : {"a", "b"}) put(name, {.class_hash = 7});
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(pop(), name);
    refuse(name);
  }
  now_ += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "a");
  finish("a", {.refused = {"a"}, .outcome = Outcome::Error});
  EXPECT_EQ(pop(), "b");
}

// It asks for something else now: what its peers are refused says nothing of it.
TEST_F(LonePods, ThatLeaveTheirShapeAreWokenForThemselves) {
  for (const char* name : {"a", "b"}) {
    put(name, {.class_hash = 7});
    EXPECT_EQ(pop(), name);
    refuse(name);
  }
  put("b", {.class_hash = 8});
  now_ += seconds{60};
  node_added();
  EXPECT_EQ(pop(), "a");
  EXPECT_EQ(pop(), "b");
}

TEST_F(LonePods, KeepTheirBackoffWhenABindingFails) {
  put("a");
  for (const int wait_s : {1, 2, 4}) {
    EXPECT_EQ(pop(), "a");
    place("a");
    EXPECT_TRUE(queue_.is_committing("a"));
    EXPECT_EQ(pop(), "");
    fail_binding("a");
    EXPECT_EQ(pop(), "");
    now_ += seconds{wait_s + 1};
  }
}

TEST_F(LonePods, AreGoneWhenDeletedInFlight) {
  put("a");
  EXPECT_EQ(pop(), "a");
  remove("a");
  refuse("a");
  place("a");
  EXPECT_FALSE(queue_.knows("a"));
  node_added();
  EXPECT_EQ(pop(), "");
}

// T3f: a pod of exactly the released nomination's priority may use the room.
TEST_F(LonePods, UpToThePriorityOfAReleasedNominationIsInclusive) {
  put("equal", {.priority = 5});
  EXPECT_EQ(pop(), "equal");
  refuse("equal");
  pod_deleted(5);
  EXPECT_EQ(pop(), "equal");
}

}  // namespace
}  // namespace muster::scheduler
