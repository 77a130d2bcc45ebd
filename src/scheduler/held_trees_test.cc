#include "scheduler/held_trees.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;
using testing::pod_object;
using testing::World;

// One gang whose pods say what the test makes them say, and hear what they are told.
class HeldTreesTest : public ::testing::Test {
 protected:
  HeldTreesTest() { model_.put(World::gang_object("g", 1)); }

  static std::string name_of(std::size_t i) { return fmt::format("p{:05}", i); }
  void put(const std::string& name, const std::string& says) {
    const ObjectPtr pod = pod_object(name, {.group = "g", .waits_for = says});
    model_.put(pod);
    if (says_other_than_siblings(*pod)) held_.says_other(root_);
  }
  void remove(const std::string& name) { model_.remove(*model_.pod("ns", name)); }
  void make_pods(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) put(name_of(i), "Node");
  }
  // Its pods are told what is due now; returns how many were.
  std::size_t run() {
    const auto told = held_.run(now_);
    for (const ObjectPtr& pod : told) put(pod->meta().name, "Siblings");
    return told.size();
  }
  std::size_t run_to_the_end() {
    std::size_t told = 0;
    while (const auto next = held_.next_deadline()) {
      now_ = std::max(now_, *next);
      told += run();
    }
    return told;
  }
  void flip() {
    held_.released(root_);
    held_.held(root_);
  }
  std::size_t not_told() const {
    std::size_t count = 0;
    model_.each_member(root_, PodRole::Waiting, [&](const ObjectPtr& pod) {
      count += says_other_than_siblings(*pod) ? 1 : 0;
    });
    return count;
  }

  Time now_{std::chrono::seconds{1'000'000'000}};
  const GroupKey root_{GroupKind::PodGroup, "ns", "g"};
  ClusterModel model_{SchedulerOptions{}.profiles, {}};
  HeldTrees held_{model_};
};

TEST_F(HeldTreesTest, PodsThatWereToldAreNotLookedAtAgain) {
  constexpr std::size_t kPods = 2'000;
  constexpr std::size_t kFlips = 1'000;
  make_pods(kPods);
  held_.held(root_);
  EXPECT_EQ(run_to_the_end(), kPods);
  for (std::size_t i = 0; i < kFlips; ++i) {
    flip();
    EXPECT_EQ(run_to_the_end(), 0U);
  }
  EXPECT_LE(held_.looks(), kPods + kFlips);
  EXPECT_EQ(not_told(), 0U);
}

TEST_F(HeldTreesTest, FlipsBeforeAllWereToldDoNotBeginAgain) {
  constexpr std::size_t kPods = 2'000;
  make_pods(kPods);
  std::size_t told = 0;
  held_.held(root_);
  for (std::size_t i = 0; i < kPods && held_.next_deadline(); ++i, flip()) {
    now_ = std::max(now_, *held_.next_deadline());
    told += run();
  }
  EXPECT_EQ(told, kPods);
  EXPECT_LE(held_.looks(), kPods + 1);
}

TEST_F(HeldTreesTest, WhoSaysSomethingElseAgainIsToldAgain) {
  make_pods(300);
  held_.held(root_);
  run_to_the_end();
  held_.released(root_);
  put(name_of(7), "Node");
  EXPECT_FALSE(held_.next_deadline()) << "the tree is tried";
  held_.held(root_);
  EXPECT_EQ(run_to_the_end(), 1U);
  put(name_of(8), "Evictions");
  put(name_of(300), "Node");
  EXPECT_EQ(run_to_the_end(), 2U);
  EXPECT_EQ(not_told(), 0U);
}

TEST_F(HeldTreesTest, NobodyIsToldWhileTheTreeIsTried) {
  make_pods(1'000);
  held_.held(root_);
  const std::size_t told = run();
  EXPECT_GT(told, 0U);
  EXPECT_LT(told, 1'000U);
  held_.released(root_);
  EXPECT_FALSE(held_.next_deadline());
  EXPECT_EQ(run(), 0U);
}

// What a namespace has to be told beyond its share waits, also while others come.
TEST_F(HeldTreesTest, ALargeTreeIsToldInSteps) {
  make_pods(5'000);
  held_.held(root_);
  std::size_t told = 0;
  for (int i = 0; i < 1'000; ++i) told += run();
  EXPECT_LT(told, 1'000U);
  EXPECT_LT(held_.looks(), 1'000U);
  ASSERT_TRUE(held_.next_deadline());
  EXPECT_GT(*held_.next_deadline(), now_);
}

// Pods come, leave and change while a walk is under way and between walks.
TEST_F(HeldTreesTest, AllAreToldWhateverHappensMeanwhile) {
  std::mt19937 random(11);  // NOLINT(*-msc51-cpp): the same every time
  std::set<std::string> pods;
  std::size_t made = 0;
  for (int step = 0; step < 5'000; ++step) {
    const auto chance = random() % 10;
    if (chance < 4) {
      const std::string name = name_of(made++);
      put(name, chance == 0 ? "" : "Node");
      pods.insert(name);
    } else if (chance < 6 && !pods.empty()) {
      auto at = pods.lower_bound(name_of(random() % made));
      if (at == pods.end()) at = pods.begin();
      if (chance == 4) {
        remove(*at);
        pods.erase(at);
      } else {
        put(*at, "Node");
      }
    } else if (chance < 8) {
      flip();
    } else if (chance == 8) {
      now_ += std::chrono::milliseconds{10};
      run();
    } else if (random() % 50 == 0) {
      held_.held(root_);
      run_to_the_end();
      ASSERT_EQ(not_told(), 0U) << step;
    }
  }
  held_.held(root_);
  run_to_the_end();
  EXPECT_EQ(not_told(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
