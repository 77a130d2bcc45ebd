#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

// B4: an attempt at a large gang delays everybody who comes meanwhile, so such gangs take turns.
namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CostlyTrees : public QueueTest {
 protected:
  static constexpr int kPods = 600;

  Names put_gang(const std::string& name, int minimum = kPods) {
    put_group(name, minimum);
    Names pods;
    for (int i = 0; i < kPods; ++i) {
      pods.push_back(fmt::format("{}-{}", name, i));
      put(pods.back(), {.group = name, .class_hash = 1});
    }
    return pods;
  }
  // Whether the gang is what is popped now; it is refused then.
  bool try_gang(const std::string& name, const Names& pods) {
    const std::string popped = pop();
    if (popped.empty()) return false;
    EXPECT_EQ(popped.substr(0, name.size() + 1), name + ":");
    refuse_group(name, pods);
    return true;
  }
};

// The search took no step at all; that it was asked for so many pods is what it costs.
TEST_F(CostlyTrees, AGangOfManyPodsWaitsForItsTurnEvenIfNobodyElseWaits) {
  const Names pods = put_gang("g");
  ASSERT_TRUE(try_gang("g", pods));
  int tried = 0;
  for (int i = 0; i < 100; ++i) {
    now_ += milliseconds{1};
    pod_deleted();
    tried += try_gang("g", pods) ? 1 : 0;
  }
  EXPECT_LE(tried, 2) << "backoffs end with the second";
  now_ += seconds{2};
  EXPECT_TRUE(try_gang("g", pods));
}

TEST_F(CostlyTrees, SoDoesOneWhoseMinimumGoesUpAndDown) {
  const Names pods = put_gang("g");
  ASSERT_TRUE(try_gang("g", pods));
  int tried = 0;
  for (int i = 0; i < 100; ++i) {
    now_ += milliseconds{1};
    put_group("g", kPods + 1);
    put_group("g", kPods);
    tried += try_gang("g", pods) ? 1 : 0;
  }
  EXPECT_LE(tried, 2) << "backoffs end with the second";
  now_ += seconds{2};
  EXPECT_TRUE(try_gang("g", pods));
}

TEST_F(CostlyTrees, AndOneThatGoesAndComes) {
  const Names pods = put_gang("g");
  int tried = try_gang("g", pods) ? 1 : 0;
  for (int i = 0; i < 100; ++i) {
    now_ += milliseconds{1};
    remove_group("g");
    put_group("g", kPods);
    tried += try_gang("g", pods) ? 1 : 0;
  }
  EXPECT_LE(tried, 12) << "turns of four times 600 pods, 4 us each";
}

TEST_F(CostlyTrees, OneThatIsGoneBeforeItIsTriedGivesItsTurnBack) {
  const Names pods = put_gang("g");
  for (int i = 0; i < 3; ++i) {
    remove_group("g");
    put_group("g", kPods);
  }
  EXPECT_TRUE(try_gang("g", pods)) << "nobody has had a turn";
}

// Few steps and few pods, but much of the node table had to be read for them.
TEST_F(CostlyTrees, WhatIsReadOfTheNodeTableCountsToo) {
  put_group("g", 2);
  for (const char* pod : {"a", "b"}) put(pod, {.group = "g", .class_hash = 1});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(pop(), "g:a,b");
    Plan plan;
    plan.rows_read = 1'000'000;
    for (const char* pod : {"a", "b"})
      plan.refusals.push_back({make_pod(pod), Outcome::Unschedulable, "", {"Fit"}});
    plan.groups.push_back({leaf("g"), nullptr, Outcome::Unschedulable, "", ""});
    queue_.finish(popped_.at("g"), plan, now_);
    pod_deleted();
  }
  EXPECT_EQ(pop(), "") << "the first attempt cost an eighth of a second";
  now_ += seconds{1};
  EXPECT_EQ(pop(), "g:a,b");
}

// What no binding takes is said at once, and again when something about the group changes, not
// with each pod that leaves somewhere.
TEST_F(CostlyTrees, AGangThatIsTooLargeIsPoppedWithoutItsPods) {
  too_large_ = {"g"};
  put_gang("g");
  EXPECT_EQ(pop(), "g:");
  finish("g", {.root = Outcome::Unresolvable});
  for (int i = 0; i < 10; ++i) {
    now_ += seconds{1};
    pod_deleted();
    node_added();
    EXPECT_EQ(pop(), "");
  }
  EXPECT_EQ(queue_.counts().resting, 1U);
  too_large_.clear();
  put_group("g", kPods - 1);
  now_ += seconds{1};
  EXPECT_EQ(pop().substr(0, 4), "g:g-");
  refuse_group("g", {});
}

// --- Very many pods that are alike.

QueueOptions three_alike() {
  QueueOptions options;
  options.alike_max = 3;
  return options;
}

class AlikePods : public QueueTest {
 protected:
  AlikePods() : QueueTest(three_alike()) {}
  void put_gang(int minimum) {
    put_group("g", minimum);
    for (const char* pod : {"a", "b", "c", "d", "e"}) put(pod, {.group = "g", .class_hash = 1});
  }
};

TEST_F(AlikePods, TheLastOfThemWaitForTheNextAttempt) {
  put_gang(2);
  put("other", {.group = "g", .class_hash = 2});
  ASSERT_EQ(pop(), "g:a,b,c,other");
  refuse_group("g", {"a", "b", "c", "other"});
  EXPECT_EQ(pop(), "");
  now_ += seconds{2};
  node_added();
  ASSERT_EQ(pop(), "g:a,b,c,other") << "they answer for the others";
  place_group("g", {"a", "b", "c", "other"});
  EXPECT_EQ(pop(), "g:d");
  EXPECT_EQ(pop(), "g:e");
}

TEST_F(AlikePods, AreAllTriedIfTheirGroupNeedsThem) {
  put_gang(5);
  EXPECT_EQ(pop(), "g:a,b,c,d,e");
}

}  // namespace
}  // namespace muster::scheduler
