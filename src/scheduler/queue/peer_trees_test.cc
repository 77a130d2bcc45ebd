#include "scheduler/queue/peer_trees.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class PeersInQueue : public QueueTest {
 protected:
  // Gangs of two pods each, all refused once.
  void put_gangs(int count, std::uint64_t class_hash = 1, std::int32_t minimum = 2) {
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("g{}", gangs_++);
      put_group(name, minimum);
      for (const char* pod : {"a", "b"}) put(name + pod, {.group = name, .class_hash = class_hash});
    }
    EXPECT_EQ(try_all(0), count);
  }
  // Tries what is runnable and places the first `room` gangs; returns the attempts.
  int try_all(int room, std::uint64_t steps = 0) {
    int attempts = 0;
    while (auto next = queue_.pop(now_)) {
      ++attempts;
      const Group& group = std::get<Group>(*next);
      Plan plan;
      plan.steps = steps;
      const bool fits = room-- > 0;
      plan.groups.push_back(
          {group.key, nullptr, fits ? Outcome::Placed : Outcome::Unschedulable, "", ""});
      for (const PendingPod& pod : group.pods) {
        if (fits) model_.assume(pod.pod, "n1");
        if (fits)
          plan.assignments.push_back({pod.pod, "n1"});
        else
          plan.refusals.push_back({pod.pod, Outcome::Unschedulable, "", {"Fit"}});
      }
      queue_.finish(*next, plan, now_);
      last_ = group.key.name;
    }
    return attempts;
  }

  int gangs_ = 0;
  std::string last_;
};

// B3: a thousand gangs that wait for the same must not all be tried for one deletion.
TEST_F(PeersInQueue, AreReleasedOneAfterTheOther) {
  put_gangs(100);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(try_all(0), 1);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(try_all(3), 4) << "three fit, the fourth finds no more room";
  now_ += seconds{2};
  node_added();
  EXPECT_EQ(try_all(1000), 97);
}

TEST_F(PeersInQueue, OtherShapesAreTriedToo) {
  put_gangs(10, 1);
  put_gangs(10, 2);
  put_gangs(10, 1, 1);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(try_all(0), 3);
}

// Whom it may evict depends on its priority.
TEST_F(PeersInQueue, ThoseOfAnotherPriorityAreTriedToo) {
  for (const int priority : {0, 5}) {
    const std::string name = fmt::format("g{}", priority);
    put_group(name, 2, "", priority);
    for (const char* pod : {"a", "b"})
      put(name + pod, {.priority = priority, .group = name, .class_hash = 1});
  }
  EXPECT_EQ(try_all(0), 2);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(try_all(0), 2);
}

TEST_F(PeersInQueue, ThoseThatNeedAnotherDomainAreTriedToo) {
  for (const char* key : {"", "rack", "zone"}) {
    const std::string name = fmt::format("g{}", key);
    put_group(name, 2, key);
    for (const char* pod : {"a", "b"}) put(name + pod, {.group = name, .class_hash = 1});
  }
  EXPECT_EQ(try_all(0), 3);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(try_all(0), 3);
}

// It is not tried while it is held back, so it can say nothing of the others.
TEST_F(PeersInQueue, AnotherSpeaksWhenTheFirstIsHeldBack) {
  put_gangs(2);
  now_ += seconds{2};
  pod_deleted();
  put_group("g0", 3);
  EXPECT_EQ(try_all(0), 1);
  EXPECT_EQ(last_, "g1");
}

TEST_F(PeersInQueue, AnotherSpeaksAfterAnErrorOfTheFirst) {
  put_gangs(2);
  now_ += seconds{2};
  pod_deleted();
  ASSERT_EQ(pop(), "g0:g0a,g0b");
  finish("g0", {.refused = {"g0a", "g0b"}, .outcome = Outcome::Error, .root = Outcome::Error});
  EXPECT_EQ(pop(), "g1:g1a,g1b");
}

// The one that spoke for them is gone, and with it what was known.
TEST_F(PeersInQueue, AnotherSpeaksWhenTheFirstIsGone) {
  put_gangs(3);
  now_ += seconds{2};
  pod_deleted();
  ASSERT_EQ(pop(), "g0:g0a,g0b");
  refuse_group("g0", {"g0a", "g0b"}, {"Taint"});
  remove_group("g0");
  EXPECT_EQ(try_all(0), 1);
  EXPECT_EQ(last_, "g1");
  now_ += seconds{2};
  pod_deleted();
  put("g1c", {.group = "g1", .class_hash = 1});
  EXPECT_EQ(try_all(0), 2) << "g1 has changed, so g2 speaks for itself";
}

TEST_F(PeersInQueue, OneIsTriedAgainAfterALongRest) {
  put_gangs(50);
  now_ += minutes{5};
  EXPECT_EQ(try_all(0), 1);
  now_ += minutes{4};
  EXPECT_EQ(try_all(0), 0);
  now_ += minutes{1};
  EXPECT_EQ(try_all(1), 2);
}

TEST_F(PeersInQueue, LonePodsOfOneClassAreTriedAgainByOne) {
  for (int i = 0; i < 20; ++i) put(fmt::format("p{}", i), {.class_hash = 1});
  for (std::string next = pop(); !next.empty(); next = pop()) refuse(next);
  now_ += minutes{5};
  const std::string first = pop();
  ASSERT_NE(first, "");
  refuse(first);
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().resting, 20U);
}

// A search of 50,000 steps takes a turn of a fifth of a second, and the others wait for theirs.
TEST_F(PeersInQueue, CostlyTreesTakeTurns) {
  for (int i = 1; i <= 100; ++i) put_gangs(1, static_cast<std::uint64_t>(i));
  now_ += seconds{2};
  node_added();
  EXPECT_EQ(try_all(0, 50'000), 100) << "what they cost is not known yet";
  now_ += seconds{60};
  node_added();
  EXPECT_LE(queue_.counts().active, 15U);
  EXPECT_GE(queue_.counts().active, 1U);
  EXPECT_EQ(queue_.counts().active + queue_.counts().backoff, 100U);
  put("new", {.class_hash = 500});
  now_ += seconds{10};
  EXPECT_LE(queue_.counts().active, 1U + 15U) << "nothing moves before pop";
}

TEST_F(PeersInQueue, AMemberThatRunsMakesATreeLikeNoOther) {
  for (const char* name : {"x", "y"}) {
    put_group(name, 3);
    put_running(fmt::format("{}-old", name), name);
    for (const char* pod : {"a", "b"})
      put(std::string(name) + pod, {.group = name, .class_hash = 1});
  }
  EXPECT_EQ(try_all(0), 2);
  now_ += seconds{2};
  pod_deleted();
  EXPECT_EQ(try_all(0), 2);
}

}  // namespace
}  // namespace muster::scheduler
