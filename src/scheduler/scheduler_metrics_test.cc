#include "scheduler/scheduler_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(SchedulerMetricsTest, CountsAttemptsByResultAndWhoWaits) {
  Metrics metrics;
  SchedulerMetrics scheduler(&metrics, "default-scheduler", {});
  scheduler.update({.scheduled = 3, .unschedulable = 1, .active = 2, .gated = 4}, Time{});
  scheduler.update({.scheduled = 5, .unschedulable = 1, .errors = 1, .active = 1}, Time{});
  const std::string text = metrics.text();
  const auto attempts = [](std::string_view result, int count) {
    return HasSubstr(R"(scheduler_schedule_attempts_total{profile="default-scheduler",result=")" +
                     std::string(result) + R"("} )" + std::to_string(count) + "\n");
  };
  EXPECT_THAT(text, attempts("scheduled", 5));
  EXPECT_THAT(text, attempts("unschedulable", 1));
  EXPECT_THAT(text, attempts("error", 1));
  EXPECT_THAT(text, HasSubstr("scheduler_pending_entities{queue=\"active\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_pending_entities{queue=\"gated\"} 0\n"));
}

TEST(SchedulerMetricsTest, LooksAtTheNumbersOnceASecond) {
  Metrics metrics;
  SchedulerMetrics scheduler(&metrics, "p", {});
  const Time now{seconds{100}};
  EXPECT_TRUE(scheduler.is_due(now));
  scheduler.update({}, now);
  EXPECT_FALSE(scheduler.is_due(now + milliseconds{999}));
  EXPECT_TRUE(scheduler.is_due(now + seconds{1}));
  EXPECT_FALSE(SchedulerMetrics(nullptr, "p", {}).is_due(now)) << "nobody reads them";
}

TEST(SchedulerMetricsTest, MeasuresAttempts) {
  Metrics metrics;
  std::chrono::nanoseconds time{};
  const SchedulerMetrics scheduler(&metrics, "p", [&] { return time; });
  {
    const auto measured = scheduler.measure_attempt();
    time += milliseconds{3};
  }
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_count 1\n"));
  EXPECT_THAT(
      text, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"0.002\"} 0\n"));
  EXPECT_THAT(
      text, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"0.004\"} 1\n"));
}

}  // namespace
}  // namespace muster::scheduler
