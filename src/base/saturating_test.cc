#include "base/saturating.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Saturating, IsExactUpToTheGreatestNumber) {
  EXPECT_EQ(saturating_add(kMost - 1, 1), kMost);
  EXPECT_EQ(saturating_multiply(kMost / 7, 7), kMost / 7 * 7);
  EXPECT_EQ(saturating_multiply(kMost, 0), 0);
}

TEST(Saturating, StaysAtTheGreatestNumber) {
  EXPECT_EQ(saturating_add(kMost, 1), kMost);
  EXPECT_EQ(saturating_add(kMost, kMost), kMost);
  EXPECT_EQ(saturating_multiply(kMost / 2 + 1, 2), kMost);
  EXPECT_EQ(saturating_multiply(kMost, 10'000), kMost);
}

}  // namespace
}  // namespace muster
