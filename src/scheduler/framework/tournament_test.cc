#include "scheduler/framework/tournament.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "scheduler/framework/contest.h"

namespace muster::scheduler {
namespace {

TEST(Tournament, KnowsTheBestThroughAnyChanges) {
  for (const std::size_t size : {1u, 2u, 15u, 16u, 17u, 1000u}) {
    std::mt19937_64 random(size);
    Tournament tournament;
    tournament.reset(size);
    std::vector<std::uint64_t> keys(size, 0);
    for (std::size_t i = 0; i < size; ++i) keys[i] = tournament.keys()[i] = random() % 50;
    tournament.rebuild();
    for (int round = 0; round < 2000; ++round) {
      ASSERT_EQ(tournament.best(), std::ranges::max(keys)) << size;
      const std::size_t at = random() % size;
      keys[at] = random() % 4 == 0 ? 0 : random() % 50;
      tournament.set(at, keys[at]);
    }
  }
}

TEST(Tournament, AnEmptyOneHasNoBest) {
  Tournament tournament;
  EXPECT_EQ(tournament.best(), 0u);
  tournament.reset(0);
  tournament.rebuild();
  EXPECT_EQ(tournament.best(), 0u);
}

TEST(ContestKey, PrefersTheHigherTotalThenTheEarlierName) {
  EXPECT_GT(ContestKey::of(7, 3), ContestKey::of(6, 0));
  EXPECT_GT(ContestKey::of(7, 0), ContestKey::of(7, 1));
  EXPECT_GT(ContestKey::of(0, 1000), 0u);
  EXPECT_EQ(ContestKey::local_total(ContestKey::of(42, 5)), 42);
  EXPECT_EQ(ContestKey::rank(ContestKey::of(42, 5)), 5u);
}

TEST(Contest, KeepsGroupsApart) {
  const std::vector<std::uint16_t> groups{0, 1, 1, 2};
  Contest contest;
  contest.reset(4, groups, 3);
  contest.enter(0, 5);
  contest.enter(1, 9);
  contest.enter(2, 7);
  contest.rebuild();
  EXPECT_EQ(contest.best_of(0), 5u);
  EXPECT_EQ(contest.best_of(1), 9u);
  EXPECT_EQ(contest.best_of(2), 0u);
  contest.set(1, 0);
  contest.set(3, 1);
  EXPECT_EQ(contest.best_of(1), 7u);
  EXPECT_EQ(contest.best_of(2), 1u);
}

}  // namespace
}  // namespace muster::scheduler
