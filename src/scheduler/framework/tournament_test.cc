#include "scheduler/framework/tournament.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "scheduler/framework/contest.h"
#include "scheduler/framework/score_groups.h"

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

TEST(Tournament, GrowsByOneContestantAtATime) {
  Tournament tournament;
  tournament.reset(0);
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(tournament.append(), i);
    ASSERT_EQ(tournament.best(), i) << "a new one has no key yet";
    tournament.set(i, i + 1);
    ASSERT_EQ(tournament.best(), i + 1);
  }
  for (std::uint64_t i = 100; i > 0; --i) {
    ASSERT_EQ(tournament.best(), i);
    tournament.set(i - 1, 0);
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

// Contestants change groups in any order, also to new ones; every group knows its best.
TEST(Contest, FollowsContestantsFromGroupToGroup) {
  constexpr std::size_t kContestants = 60;
  std::mt19937_64 random(7);
  std::vector<std::uint16_t> groups(kContestants, 0);
  std::vector<std::uint64_t> keys(kContestants, 0);
  Contest contest;
  contest.reset(kContestants, groups, 1);
  contest.rebuild();
  for (int round = 0; round < 5000; ++round) {
    const std::size_t who = random() % kContestants;
    groups[who] = static_cast<std::uint16_t>(random() % 9);
    keys[who] = random() % 5 == 0 ? 0 : random() % 100;
    contest.set(who, groups[who], keys[who]);
    ASSERT_EQ(contest.key(who), keys[who]);
    for (std::size_t group = 0; group < contest.group_count(); ++group) {
      std::uint64_t best = 0;
      for (std::size_t i = 0; i < kContestants; ++i)
        if (groups[i] == group) best = std::max(best, keys[i]);
      ASSERT_EQ(contest.best_of(group), best) << "group " << group << " in round " << round;
    }
  }
  EXPECT_LT(contest.bytes(), 40'000U) << "seats that were left are taken again";
}

TEST(ScoreGroups, GiveTheirNumbersBack) {
  ScoreGroups groups;
  groups.reset(2);
  const ScoreGroups::Id a = groups.of({1, 2}).value();
  groups.enter(a);
  groups.enter(a);
  const ScoreGroups::Id b = groups.of({1, 3}).value();
  groups.enter(b);
  EXPECT_NE(a, b);
  EXPECT_EQ(groups.of({1, 2}), a);
  groups.leave(a);
  EXPECT_EQ(groups.size(), 2U);
  groups.leave(a);
  EXPECT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups.of({7, 7}), a) << "the number of the group that nobody is in";
  EXPECT_EQ(groups.raw(a, 0), 7);
  EXPECT_EQ(groups.raw(b, 1), 3);
  EXPECT_EQ(groups.end(), 2U);
  groups.leave(b);
  EXPECT_EQ(groups.of({8, 9}), b);
  EXPECT_EQ(groups.raw(b, 0), 8);
  EXPECT_EQ(groups.raw(a, 1), 7) << "the other keeps its own";
}

TEST(ScoreGroups, AreNeverMoreThanTheirMaximum) {
  ScoreGroups groups;
  groups.reset(1);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(ScoreGroups::kMax); ++i)
    ASSERT_TRUE(groups.of({i}).has_value());
  EXPECT_FALSE(groups.of({-1}).has_value());
  EXPECT_TRUE(groups.of({0}).has_value());
}

}  // namespace
}  // namespace muster::scheduler
