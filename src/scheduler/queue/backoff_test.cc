#include "scheduler/queue/backoff.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::int64_t> seconds_after(int failures, BackoffOptions options = {}) {
  std::vector<std::int64_t> out;
  for (int count = 1; count <= failures; ++count)
    out.push_back(std::chrono::duration_cast<seconds>(backoff_duration(options, count)).count());
  return out;
}

// As upstream counts.
TEST(Backoff, N6DoublesUpToTheMaximum) {
  EXPECT_EQ(seconds_after(6), (std::vector<std::int64_t>{1, 2, 4, 8, 10, 10}));
}

TEST(Backoff, IsZeroWithoutFailuresOrWhenDisabled) {
  EXPECT_EQ(backoff_duration({}, 0), Duration::zero());
  EXPECT_EQ(backoff_duration({.initial = seconds{1}, .max = seconds{0}}, 3), Duration::zero());
}

TEST(Backoff, SurvivesAbsurdCounts) {
  EXPECT_EQ(backoff_duration({}, 64), seconds{10});
  EXPECT_EQ(backoff_duration({}, 2'000'000'000), seconds{10});
}

TEST(Backoff, CountsWholeSeconds) {
  const Time failed_at = Time{seconds{100}} + milliseconds{300};
  const Time expiry = backoff_expiry(failed_at, seconds{1});
  EXPECT_EQ(expiry, Time{seconds{101}});
  EXPECT_TRUE(backing_off(expiry, Time{seconds{101}} + milliseconds{999}));
  EXPECT_FALSE(backing_off(expiry, Time{seconds{102}}));
  EXPECT_EQ(backoff_end(expiry), Time{seconds{102}});
}

TEST(Backoff, ErrorsOutweighRejections) {
  EXPECT_EQ((Failures{.rejections = 5, .errors = 0}.count()), 5);
  EXPECT_EQ((Failures{.rejections = 5, .errors = 1}.count()), 1);
}

}  // namespace
}  // namespace muster::scheduler
