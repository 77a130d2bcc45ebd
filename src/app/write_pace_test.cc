#include "app/write_pace.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::app {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
constexpr Time kNow = Time(std::chrono::hours{1});

// How much a user gets who writes a MiB after the other.
std::size_t write_all(WritePace& pace, const std::string& user, Time now) {
  std::size_t written = 0;
  for (; pace.admits(user, now); written += kMebibyte) pace.charge(user, kMebibyte, now);
  return written;
}

TEST(WritePace, NobodyGetsMoreThanTheOthersHaveLeft) {
  WritePace pace;
  EXPECT_EQ(write_all(pace, "greedy", kNow), WritePace::kBytes / 2);
  EXPECT_EQ(write_all(pace, "as greedy", kNow), WritePace::kBytes / 4);
  EXPECT_FALSE(pace.admits("greedy", kNow));
  EXPECT_TRUE(pace.admits("modest", kNow));
}

TEST(WritePace, AllTogetherGetNoMoreThanThereIs) {
  WritePace pace;
  std::size_t written = 0;
  for (int user = 0; user < 100; ++user)
    written += write_all(pace, "user-" + std::to_string(user), kNow);
  EXPECT_EQ(written, WritePace::kBytes);
  EXPECT_FALSE(pace.admits("modest", kNow));
}

TEST(WritePace, BeginsAgainEverySecondAndWhenTheClockGoesBack) {
  WritePace pace;
  write_all(pace, "greedy", kNow);
  EXPECT_FALSE(pace.admits("greedy", kNow + WritePace::kPeriod - Duration{1}));
  EXPECT_EQ(write_all(pace, "greedy", kNow + WritePace::kPeriod), WritePace::kBytes / 2);
  EXPECT_EQ(write_all(pace, "greedy", kNow), WritePace::kBytes / 2);
}

}  // namespace
}  // namespace muster::app
