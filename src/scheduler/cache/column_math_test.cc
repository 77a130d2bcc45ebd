#include "scheduler/cache/column_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace muster::scheduler {
namespace {

constexpr std::int64_t kMi = std::int64_t{1024} * 1024;
constexpr std::int64_t kGi = 1024 * kMi;

struct TwoResources {
  Column<std::int64_t> allocatable[2];
  Column<std::int64_t> used[2];

  TwoResources(std::int64_t cap0, std::int64_t cap1, std::int64_t used0, std::int64_t used1) {
    for (int i = 0; i < 2; ++i) {
      allocatable[i].resize(1);
      used[i].resize(1);
    }
    allocatable[0].data()[0] = cap0;
    allocatable[1].data()[0] = cap1;
    used[0].data()[0] = used0;
    used[1].data()[0] = used1;
  }
  std::vector<Share> shares(std::int64_t pod0, std::int64_t pod1, std::int64_t w0 = 1,
                            std::int64_t w1 = 1) const {
    return {{allocatable[0].data(), used[0].data(), pod0, w0},
            {allocatable[1].data(), used[1].data(), pod1, w1}};
  }
};

// Worked examples of upstream's integer and floating-point arithmetic.
TEST(LeastAllocated, D1D3D4D6D7GivesUpstreamsNumbers) {
  const auto score = [](const TwoResources& node, const std::vector<Share>& shares) {
    Column<std::int32_t> totals;
    totals.resize(1);
    add_least_allocated(shares, 1, true, totals);
    EXPECT_EQ(totals.data()[0], least_allocated_at(shares, 0));
    static_cast<void>(node);
    return least_allocated_at(shares, 0);
  };
  const TwoResources d1(4000, 10000, 0, 0);
  EXPECT_EQ(score(d1, d1.shares(3000, 5000)), 37);
  const TwoResources d3(4000, 8 * kGi, 1000, 2 * kGi);
  EXPECT_EQ(score(d3, d3.shares(100, 200 * kMi)), 72);
  const TwoResources d4(4000, 8 * kGi, 3950, 2 * kGi);
  EXPECT_EQ(score(d4, d4.shares(100, 200 * kMi)), 36);
  const TwoResources d6(4000, 8 * kGi, 500, 1 * kGi);
  EXPECT_EQ(score(d6, d6.shares(500, 1 * kGi, 3, 1)), 75);
  const TwoResources d7(3000, 7, 0, 0);
  EXPECT_EQ(score(d7, d7.shares(1000, 2)), 68);
}

// Numbers computed by upstream's own code.
TEST(Balanced, E1ToE5GivesUpstreamsNumbers) {
  struct Case {
    TwoResources node;
    std::int64_t pod0, pod1, want;
  };
  const Case cases[] = {
      {{4000, 10000, 0, 0}, 3000, 5000, 68},
      {{8000, 16 * kGi, 2000, 2 * kGi}, 1000, 4 * kGi, 78},
      {{8000, 16 * kGi, 2000, 4 * kGi}, 1000, 2 * kGi, 75},
      {{8000, 16 * kGi, 6000, 2 * kGi}, 2000, 1 * kGi, 70},
      {{8000, 16 * kGi, 9000, 2 * kGi}, 1000, 0, 75},
  };
  for (const Case& c : cases) {
    const auto shares = c.node.shares(c.pod0, c.pod1);
    EXPECT_EQ(balanced_at(shares, 0), c.want);
    Column<std::int32_t> totals;
    totals.resize(1);
    add_balanced(shares, 1, totals);
    EXPECT_EQ(totals.data()[0], c.want);
  }
}

TEST(Balanced, E6TakesTheDeviationOfThreeResources) {
  const std::int64_t capacity[] = {4000, 8 * kGi, 4};
  const std::int64_t used[] = {1000, 1 * kGi, 1};
  const Share shares[] = {{&capacity[0], &used[0], 1000, 1},
                          {&capacity[1], &used[1], 1 * kGi, 1},
                          {&capacity[2], &used[2], 1, 1}};
  EXPECT_EQ(balanced_at(shares, 0), 72);
}

TEST(Balanced, SharesWithoutTheResourceAndBeyondTheMaximumDoNotCount) {
  const std::int64_t capacity[] = {100, 100, 0, 100};
  const std::int64_t used[] = {50, 10, 70, 90};
  const auto share = [&](int i, std::int64_t wanted) {
    return Share{&capacity[i], &used[i], wanted, 1};
  };
  const Share two[] = {share(0, 20), share(1, 0)};
  const Share three[] = {share(0, 20), share(2, 99), share(1, 0)};
  EXPECT_EQ(balanced_at(two, 0), 50 + (50 + 70 - 80) / 2);
  EXPECT_EQ(balanced_at(three, 0), balanced_at(two, 0));
  const Share one[] = {share(0, 20), share(2, 99)};
  EXPECT_EQ(balanced_at(one, 0), 75) << "a single resource is in balance with itself";
  const Share full[] = {share(3, 20), share(3, 30), share(3, 200)};
  EXPECT_EQ(balanced_at(full, 0), 75) << "no share is more than all of it";
  std::vector<Share> many(kBalancedMax, share(0, 0));
  const std::int64_t in_balance = balanced_at(many, 0);
  many.push_back(share(1, 80));
  EXPECT_EQ(balanced_at(many, 0), in_balance);
  Column<std::int32_t> totals;
  totals.resize(1);
  const Share columns[] = {share(0, 20), share(1, 0), share(3, 5)};
  // The rest of the block is not there.
  std::int64_t rows[3][2][kRowBlock] = {};
  Share blocks[3];
  for (int i = 0; i < 3; ++i) {
    rows[i][0][0] = *columns[i].allocatable;
    rows[i][1][0] = *columns[i].used;
    blocks[i] = {rows[i][0], rows[i][1], columns[i].wanted, 1};
  }
  totals.data()[0] = 7;
  add_balanced(blocks, 3, totals);
  EXPECT_EQ(totals.data()[0], 7 + 3 * balanced_at(columns, 0));
}

TEST(Fit, ANodeTakesAsManyAsTheScarcestAllows) {
  const std::int64_t allocatable[] = {10, 7};
  const std::int64_t requested[] = {4, 1};
  const auto cap = [&](std::int64_t first, std::int64_t second, std::int64_t slots,
                       std::int64_t pods) {
    const Demand demands[] = {{&allocatable[0], &requested[0], first},
                              {&allocatable[1], &requested[1], second}};
    return cap_by_fit_at(demands, &slots, &pods, 0);
  };
  EXPECT_EQ(cap(1, 1, 110, 0), 6);
  EXPECT_EQ(cap(2, 1, 110, 0), 3);
  EXPECT_EQ(cap(6, 6, 110, 0), 1) << "just";
  EXPECT_EQ(cap(7, 1, 110, 0), 0);
  EXPECT_EQ(cap(1, 7, 110, 0), 0);
  EXPECT_EQ(cap(1, 1, 5, 3), 2);
  EXPECT_EQ(cap(1, 1, 5, 5), 0);
  EXPECT_EQ(cap(1, 1, 5, 8), 0) << "it holds more than it should";
  const std::int64_t slots = std::int64_t{1} << 40;
  const std::int64_t pods = 0;
  EXPECT_EQ(cap_by_fit_at({}, &slots, &pods, 0), kNoCap);
}

TEST(MostAllocated, IsTheShareThatWouldBeTaken) {
  const TwoResources node(1000, 200, 250, 100);
  EXPECT_EQ(most_allocated_at(node.shares(250, 50), 0), (50 + 75) / 2);
  EXPECT_EQ(most_allocated_at(node.shares(250, 50, 3, 1), 0), (3 * 50 + 75) / 4);
  EXPECT_EQ(most_allocated_at(node.shares(9999, 0), 0), (100 + 50) / 2);
  EXPECT_EQ(most_allocated_at(TwoResources(0, 200, 250, 100).shares(1, 50), 0), 75);
  EXPECT_EQ(most_allocated_at(TwoResources(0, 0, 1, 1).shares(1, 1), 0), 0);
}

TEST(RequestedToCapacity, LooksUtilizationUpAndRoundsHalvesUp) {
  ShapeTable scores{};
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<std::int32_t>(i);
  const TwoResources node(1000, 200, 250, 100);
  EXPECT_EQ(requested_to_capacity_at(node.shares(250, 50), scores, 0), 63) << "62.5";
  EXPECT_EQ(requested_to_capacity_at(node.shares(250, 48, 1, 1), scores, 0), 62) << "62";
  EXPECT_EQ(requested_to_capacity_at(node.shares(9999, 0), scores, 0), 75);
  EXPECT_EQ(requested_to_capacity_at(node.shares(-250, 0), scores, 0), 50)
      << "what scores 0 does not count";
  EXPECT_EQ(requested_to_capacity_at(node.shares(250, 50, 3, 1), scores, 0), 56) << "56.25";
  EXPECT_EQ(requested_to_capacity_at(TwoResources(0, 0, 1, 1).shares(1, 1), scores, 0), 0);
}

// Beyond what a double holds exactly, rows are done one by one.
TEST(ColumnMath, LargeAmountsAreAddedToWhatIsThere) {
  const TwoResources large(std::int64_t{1} << 60, 200, std::int64_t{1} << 58, 100);
  const TwoResources small(1000, 200, 1, 100);
  ShapeTable scores{};
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<std::int32_t>(100 - i);
  for (const bool are_small : {false, true}) {
    const std::vector<Share> shares =
        are_small ? small.shares(50, 50) : large.shares(std::int64_t{1} << 57, 50);
    Column<std::int32_t> totals;
    totals.resize(1);
    totals.fill(5);
    add_least_allocated(shares, 2, are_small, totals);
    const std::int64_t least = 5 + 2 * least_allocated_at(shares, 0);
    EXPECT_EQ(totals.data()[0], least);
    add_most_allocated(shares, 3, are_small, totals);
    const std::int64_t most = least + 3 * most_allocated_at(shares, 0);
    EXPECT_EQ(totals.data()[0], most);
    add_requested_to_capacity(shares, scores, 7, are_small, totals);
    EXPECT_EQ(totals.data()[0], most + 7 * requested_to_capacity_at(shares, scores, 0));
  }
}

// A node may say that it has whatever 64 bits hold, and so may a pod that wants it.
TEST(ColumnMath, SharesOfTheLargestAmountsAreShares) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  ShapeTable scores{};
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<std::int32_t>(i);
  const TwoResources node(kMost, kMost, kMost / 4, kMost / 4);
  const std::vector<Share> half = node.shares(kMost / 4, kMost / 4);
  EXPECT_EQ(least_allocated_at(half, 0), 50);
  EXPECT_EQ(most_allocated_at(half, 0), 49) << "a little less than half";
  EXPECT_EQ(requested_to_capacity_at(half, scores, 0), 49);
  const std::vector<Share> too_much = node.shares(kMost, kMost);
  EXPECT_EQ(least_allocated_at(too_much, 0), 0);
  EXPECT_EQ(most_allocated_at(too_much, 0), 100);
  EXPECT_EQ(requested_to_capacity_at(too_much, scores, 0), 100);
}

TEST(ColumnMath, WholeColumnsAgreeWithSingleRows) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t rows = 1 + random() % 300;
    Column<std::int64_t> allocatable[3], requested[3], slots, pods;
    for (auto* column : {&allocatable[0], &allocatable[1], &allocatable[2], &requested[0],
                         &requested[1], &requested[2], &slots, &pods})
      column->resize(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      for (int r = 0; r < 3; ++r) {
        const std::int64_t scale = r == 0 ? 64000 : r == 1 ? kVectorAmountMax - 1 : 8;
        allocatable[r].data()[row] =
            random() % 8 == 0 ? 0 : static_cast<std::int64_t>(random()) % scale;
        if (allocatable[r].data()[row] < 0) allocatable[r].data()[row] *= -1;
        requested[r].data()[row] =
            static_cast<std::int64_t>(random() % 100) * allocatable[r].data()[row] / 80;
      }
      slots.data()[row] = static_cast<std::int64_t>(random() % 20);
      pods.data()[row] = static_cast<std::int64_t>(random() % 20);
    }
    std::vector<Demand> demands;
    std::vector<Share> shares;
    for (int r = 0; r < 3; ++r) {
      const auto wanted = static_cast<std::int64_t>(1 + random() % (r == 0   ? 4000
                                                                    : r == 1 ? 1ULL << 40
                                                                             : 3));
      demands.push_back({allocatable[r].data(), requested[r].data(), wanted});
      if (r < 2)
        shares.push_back({allocatable[r].data(), requested[r].data(), wanted,
                          1 + static_cast<std::int64_t>(random() % 4)});
    }
    NodeSet set(rows);
    for (std::size_t row = 0; row < rows; ++row) set.insert(static_cast<NodeId>(row));
    narrow_by_fit(demands, slots.data(), pods.data(), set);
    CapColumn caps;
    caps.resize(rows);
    cap_by_fit(demands, slots.data(), pods.data(), caps);
    Column<std::int32_t> least, most, ratio, balanced;
    for (auto* column : {&least, &most, &ratio, &balanced}) column->resize(rows);
    ShapeTable scores{};
    for (std::int32_t& score : scores) score = static_cast<std::int32_t>(random() % 101);
    add_least_allocated(shares, 3, true, least);
    add_most_allocated(shares, 3, true, most);
    add_requested_to_capacity(shares, scores, 3, true, ratio);
    add_balanced(shares, 2, balanced);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int32_t cap = cap_by_fit_at(demands, slots.data(), pods.data(), row);
      ASSERT_EQ(caps.data()[row], cap) << "seed " << seed << " row " << row;
      ASSERT_EQ(set.contains(static_cast<NodeId>(row)), cap > 0)
          << "seed " << seed << " row " << row;
      ASSERT_EQ(least.data()[row], 3 * least_allocated_at(shares, row))
          << "seed " << seed << " row " << row;
      ASSERT_EQ(most.data()[row], 3 * most_allocated_at(shares, row))
          << "seed " << seed << " row " << row;
      ASSERT_EQ(ratio.data()[row], 3 * requested_to_capacity_at(shares, scores, row))
          << "seed " << seed << " row " << row;
      ASSERT_EQ(balanced.data()[row], 2 * balanced_at(shares, row))
          << "seed " << seed << " row " << row;
    }
  }
}

TEST(Keys, AreTheSameForOneRowAndForAll) {
  std::mt19937 random(7);  // NOLINT: the same numbers every time
  for (const std::size_t rows : {1U, 63U, 64U, 65U, 200U, 1000U}) {
    NodeSet nodes(rows);
    Column<std::int32_t> totals;
    Column<std::uint32_t> ranks;
    totals.resize(rows);
    ranks.resize(rows);
    std::vector<std::uint64_t> want(rows, 0);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto node = static_cast<NodeId>(row);
      totals[node] = static_cast<std::int32_t>(random() % 1200);
      ranks[node] = static_cast<std::uint32_t>(rows - row);
      if (random() % 3 == 0) continue;
      nodes.insert(node);
      want[row] =
          (static_cast<std::uint64_t>(totals[node] + 1) << 32) | (0xffffffffU - ranks[node]);
    }
    std::vector<std::uint64_t> keys(rows, 0);
    pack_keys(nodes, totals, ranks, keys);
    EXPECT_EQ(keys, want);
    EXPECT_EQ(best_key(nodes, totals, ranks), *std::ranges::max_element(want));
    nodes.clear();
    EXPECT_EQ(best_key(nodes, totals, ranks), 0u);
  }
}

}  // namespace
}  // namespace muster::scheduler
