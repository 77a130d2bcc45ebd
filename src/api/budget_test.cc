#include "api/budget.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(Budget, IsSpentToTheLast) {
  Budget budget(5);
  EXPECT_TRUE(budget.spend(2));
  EXPECT_EQ(budget.left(), 3U);
  EXPECT_TRUE(budget.spend(3));
  EXPECT_EQ(budget.left(), 0U);
  EXPECT_TRUE(budget.spend(0));
  EXPECT_FALSE(budget.spend(1));
  Budget small(5);
  EXPECT_FALSE(small.spend(6));
  EXPECT_EQ(small.left(), 0U) << "what is too much takes all";
}

TEST(Budget, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abc", 2), "ab");
  EXPECT_EQ(cut_utf8("a\u00e4b", 2), "a");
  EXPECT_EQ(cut_utf8("a\u00e4b", 3), "a\u00e4");
  EXPECT_EQ(cut_utf8("\u20ac", 2), "");
  EXPECT_EQ(cut_utf8("\U0001f600x", 4), "\U0001f600");
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcde", 4), "abcd... (5 bytes)");
}

TEST(Reports, KeepAHundredAndCountTheRest) {
  Reports reports;
  for (std::size_t i = 0; i < kLimits.reports; ++i) reports.add([] { return "said"; });
  EXPECT_EQ(reports.left_out(), 0U);
  reports.add([] {
    ADD_FAILURE() << "not even written";
    return "";
  });
  EXPECT_EQ(reports.kept().size(), kLimits.reports);
  reports.add_left_out(4);
  EXPECT_EQ(reports.left_out(), 5U);
  const std::vector<std::string> finished = std::move(reports).finish();
  ASSERT_EQ(finished.size(), kLimits.reports + 1);
  EXPECT_EQ(finished.back(), "and 5 more");
  Reports one;
  one.add([] { return "said"; });
  EXPECT_EQ(std::move(one).finish(), std::vector<std::string>{"said"});
}

}  // namespace
}  // namespace muster::api
