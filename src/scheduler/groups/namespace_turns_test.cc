#include "scheduler/groups/namespace_turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster::scheduler {
namespace {

using std::chrono::microseconds;

constexpr Time kStart{std::chrono::seconds{1000}};

TEST(NamespaceTurns, EachNamespaceEarnsItsStepsByItself) {
  NamespaceTurns turns({.each = microseconds{10}, .burst = 100});
  EXPECT_EQ(turns.left("a", kStart), 100U);
  turns.charge("a", 60, kStart);
  EXPECT_EQ(turns.left("a", kStart), 40U);
  EXPECT_EQ(turns.left("b", kStart), 100U);
  EXPECT_EQ(turns.left("a", kStart + microseconds{200}), 60U);
  EXPECT_EQ(turns.when("a", 60), kStart + microseconds{200});
  turns.charge("a", 1'000, kStart + microseconds{200});
  EXPECT_EQ(turns.left("a", kStart + microseconds{200}), 0U) << "a debt";
  const Time when = turns.when("a", 30);
  EXPECT_EQ(turns.left("a", when), 30U);
  EXPECT_EQ(turns.left("a", when - microseconds{1}), 29U);
}

TEST(NamespaceTurns, ForgetThoseThatAreEven) {
  NamespaceTurns turns({.each = microseconds{10}, .burst = 100});
  for (int i = 0; i < 10'000; ++i)
    turns.charge(fmt::format("ns-{}", i), 1, kStart + microseconds{i * 10});
  EXPECT_LE(turns.size(), 70U);
}

TEST(NamespaceTurns, ARestEarnsNoMoreThanTheBurst) {
  NamespaceTurns turns({.each = microseconds{10}, .burst = 100});
  EXPECT_EQ(turns.when("a", 100), Time::min()) << "at once";
  turns.charge("a", 0, kStart);
  EXPECT_EQ(turns.size(), 0U) << "nothing was charged";
  turns.charge("a", 10, kStart);
  const Time later = kStart + std::chrono::seconds{10};
  EXPECT_EQ(turns.left("a", later), 100U);
  turns.charge("a", 10, later);
  EXPECT_EQ(turns.left("a", later), 90U);
  EXPECT_EQ(turns.when("a", 100), later + microseconds{100});
  EXPECT_EQ(turns.left("a", later + microseconds{99}), 99U);
  EXPECT_EQ(turns.left("a", later + microseconds{100}), 100U);
}

}  // namespace
}  // namespace muster::scheduler
