#include "server/access/stamped_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace muster::server {
namespace {

constexpr std::size_t kSize = 9'000;

TEST(StampedCacheTest, AValueHoldsAsLongAsItsStamp) {
  StampedCache<int> cache(1'000'000);
  EXPECT_EQ(cache.find("a", 1), nullptr);
  cache.put("a", 1, std::make_shared<const int>(7), kSize);
  ASSERT_NE(cache.find("a", 1), nullptr);
  EXPECT_EQ(*cache.find("a", 1), 7);
  EXPECT_EQ(cache.find("a", 2), nullptr);
  EXPECT_EQ(cache.find("b", 1), nullptr);
  cache.put("a", 2, std::make_shared<const int>(8), kSize);
  EXPECT_EQ(*cache.find("a", 2), 8);
  EXPECT_EQ(cache.find("a", 1), nullptr);
}

TEST(StampedCacheTest, WhatIsAskedForStaysAndAllTogetherAreBounded) {
  StampedCache<int> cache(100'000);
  EXPECT_TRUE(cache.fits(kSize));
  EXPECT_FALSE(cache.fits(50'000)) << "it would displace all others";
  cache.put("large", 1, std::make_shared<const int>(0), 50'000);
  EXPECT_EQ(cache.find("large", 1), nullptr);
  std::vector<std::weak_ptr<const int>> made;
  cache.put("asked", 1, std::make_shared<const int>(0), kSize);
  for (int i = 0; i < 100; ++i) {
    const auto value = std::make_shared<const int>(i);
    made.push_back(value);
    cache.put(fmt::format("n{}", i), 1, value, kSize);
    EXPECT_NE(cache.find("asked", 1), nullptr) << i;
  }
  const auto kept =
      std::ranges::count_if(made, [](const auto& each) { return each.lock() != nullptr; });
  EXPECT_GE(kept, 4);
  EXPECT_LE(kept, 10);
}

// The same key again and again is one value, not many.
TEST(StampedCacheTest, AReplacedValueMakesRoom) {
  StampedCache<int> cache(100'000);
  cache.put("other", 1, std::make_shared<const int>(0), kSize);
  for (int i = 0; i < 3; ++i) cache.put("a", i, std::make_shared<const int>(i), kSize);
  for (int i = 0; i < 2; ++i)
    cache.put(fmt::format("b{}", i), 1, std::make_shared<const int>(i), kSize);
  EXPECT_NE(cache.find("other", 1), nullptr);
  EXPECT_NE(cache.find("a", 2), nullptr);
}

}  // namespace
}  // namespace muster::server
