#include "client/remote/rate_limit.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "client/remote/backoff.h"

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimitTest, ABurstAtOnceThenTheRate) {
  RateLimit limit({.per_second = 10, .burst = 2});
  const Time start{};
  EXPECT_EQ(limit.take_token(start), std::nullopt);
  EXPECT_EQ(limit.take_token(start), std::nullopt);
  EXPECT_EQ(limit.take_token(start), start + milliseconds{100});
  EXPECT_EQ(limit.take_token(start + milliseconds{100}), std::nullopt);
  EXPECT_EQ(limit.take_token(start + milliseconds{150}), start + milliseconds{200});
}

TEST(RateLimitTest, AnIdleHourSavesNoMoreThanABurst) {
  RateLimit limit({.per_second = 10, .burst = 2});
  EXPECT_EQ(limit.take_token(Time{}), std::nullopt);
  const Time later = Time{} + std::chrono::hours{1};
  EXPECT_EQ(limit.take_token(later), std::nullopt);
  EXPECT_EQ(limit.take_token(later), std::nullopt);
  EXPECT_NE(limit.take_token(later), std::nullopt);
}

TEST(RateLimitTest, WithoutARateNothingIsLimited) {
  RateLimit limit({.per_second = 0, .burst = 1});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limit.take_token(Time{}), std::nullopt);
}

TEST(BackoffTest, PausesDoubleUpToHalfAMinuteAndAreForgotten) {
  SeededEntropy entropy(7);
  Backoff backoff(entropy);
  Time now = Time{} + std::chrono::hours{1};
  for (const Duration least : std::vector<Duration>{
           milliseconds{800}, milliseconds{1600}, milliseconds{3200}, milliseconds{6400},
           milliseconds{12800}, milliseconds{25600}, seconds{30}, seconds{30}}) {
    const Duration pause = backoff.failed(now);
    EXPECT_GE(pause, least);
    EXPECT_LT(pause, 2 * least);
    now += seconds{10};
  }
  now += std::chrono::minutes{3};
  EXPECT_LT(backoff.failed(now), milliseconds{1600});
}

TEST(BackoffTest, AFailureIsForgottenAfterTwoMinutes) {
  SeededEntropy entropy(7);
  Backoff backoff(entropy);
  Time now = Time{} + std::chrono::hours{1};
  backoff.failed(now);
  now += std::chrono::minutes{2};
  EXPECT_GE(backoff.failed(now), milliseconds{1600}) << "just not";
  now += std::chrono::minutes{2} + milliseconds{1};
  EXPECT_LT(backoff.failed(now), milliseconds{1600});
}

TEST(BackoffTest, ClientsDoNotComeBackTogether) {
  SeededEntropy entropy(7);
  std::set<Duration> pauses;
  for (int i = 0; i < 20; ++i) {
    Backoff backoff(entropy);
    pauses.insert(backoff.failed(Time{} + std::chrono::hours{1}));
  }
  EXPECT_GT(pauses.size(), 15U);
}

}  // namespace
}  // namespace muster::client
