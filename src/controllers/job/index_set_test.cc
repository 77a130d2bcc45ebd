#include "controllers/job/index_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace muster::controllers {
namespace {

TEST(IndexSet, WritesRunsOfThreeAsRanges) {
  struct Case {
    std::vector<std::int32_t> indexes;
    std::string text;
  };
  const Case cases[] = {{{}, ""},
                        {{4}, "4"},
                        {{1, 0}, "0,1"},
                        {{7, 3, 1, 5, 4}, "1,3-5,7"},
                        {{0, 1, 2, 2, 1}, "0-2"},
                        {{2147483646, 2147483645}, "2147483645,2147483646"}};
  for (const Case& each : cases) {
    EXPECT_EQ(IndexSet::of(each.indexes).text(), each.text);
    EXPECT_EQ(IndexSet::parse(each.text, 2147483647), IndexSet::of(each.indexes)) << each.text;
  }
}

TEST(IndexSet, ReadsOnlyWhatTheJobHas) {
  EXPECT_EQ(IndexSet::parse("1,3-5,7", 5).text(), "1,3,4");
  EXPECT_EQ(IndexSet::parse("0-9", 0).text(), "");
  EXPECT_EQ(IndexSet::parse("0,x,3", 9).text(), "0");
  EXPECT_EQ(IndexSet::parse("5-3", 9).text(), "");
  EXPECT_EQ(IndexSet::parse("-1", 9).text(), "");
}

// Against plain sets of numbers.
TEST(IndexSet, AgreesWithASetOfNumbers) {
  std::uint32_t seed = 7;
  const auto draw = [&](std::uint32_t below) {
    seed = seed * 1664525U + 1013904223U;
    return static_cast<std::int32_t>((seed >> 8U) % below);
  };
  for (int round = 0; round < 2000; ++round) {
    std::set<std::int32_t> a, b;
    for (int i = draw(12); i > 0; --i) a.insert(draw(20));
    for (int i = draw(12); i > 0; --i) b.insert(draw(20));
    const IndexSet left = IndexSet::of({a.begin(), a.end()});
    const IndexSet right = IndexSet::of({b.begin(), b.end()});
    std::set<std::int32_t> both = a;
    both.insert(b.begin(), b.end());
    const IndexSet joined = left.with(right);
    ASSERT_EQ(joined, IndexSet::of({both.begin(), both.end()}));
    ASSERT_EQ(joined.size(), std::ssize(both));
    ASSERT_EQ(left.shared_with(right),
              std::ranges::count_if(a, [&](std::int32_t i) { return b.contains(i); }));
    const std::int32_t end = draw(22);
    const std::int32_t count = draw(8);
    std::vector<std::int32_t> missing;
    for (std::int32_t i = 0; i < end; ++i) {
      ASSERT_EQ(left.contains(i), a.contains(i));
      if (!a.contains(i) && std::ssize(missing) < count) missing.push_back(i);
    }
    ASSERT_EQ(left.first_missing(count, end), missing);
    ASSERT_EQ(IndexSet::parse(joined.text(), 100), joined);
  }
}

}  // namespace
}  // namespace muster::controllers
