#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsTest, WritesThePrometheusText) {
  Metrics metrics;
  metrics.counter("workqueue_adds_total", "Adds.", {{"name", "gc"}}).add();
  metrics.counter("workqueue_adds_total", "Adds.", {{"name", "gc"}}).add(2);
  metrics.gauge("workqueue_depth", "Depth.", {{"name", "gc"}}).set(7);
  const std::array bounds{0.1, 1.0};
  const Histogram waited = metrics.histogram("waited_seconds", "Waiting.", {}, bounds);
  for (const double seconds : {0.05, 0.5, 5.0}) waited.observe(seconds);

  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_adds_total counter\n"
                              "workqueue_adds_total{name=\"gc\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_depth gauge\nworkqueue_depth{name=\"gc\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("waited_seconds_bucket{le=\"0.1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("waited_seconds_bucket{le=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("waited_seconds_bucket{le=\"+Inf\"} 3\n"));
}

TEST(MetricsTest, AHandleThatWasNeverRegisteredDropsEverything) {
  Counter().add();
  Gauge().set(1);
  Histogram().observe(1);
}

TEST(MetricsTest, LabelValuesBeyondTheBoundShareOneSeries) {
  Metrics metrics;
  for (std::size_t i = 0; i < Metrics::kSeriesMax + 3; ++i)
    metrics.counter("calls_total", "Calls.", {{"who", std::to_string(i)}}).add();
  metrics.counter("calls_total", "Calls.", {{"who", "0"}}).add();
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("calls_total{who=\"0\"} 2\n")) << "a known one stays itself";
  EXPECT_THAT(text, HasSubstr("calls_total{who=\"other\"} 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("who=\"" + std::to_string(Metrics::kSeriesMax) + "\"")));
}

TEST(MetricsTest, EveryThreadMayCountAndRead) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&metrics] {
      const Counter counter = metrics.counter("n_total", "N.");
      for (int n = 0; n < 1000; ++n) counter.add();
      EXPECT_FALSE(metrics.text().empty());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(metrics.text(), HasSubstr("n_total 4000\n"));
}

TEST(MetricsTest, AGaugeMovesBothWays) {
  Metrics metrics;
  const Gauge gauge = metrics.gauge("depth", "How deep.");
  gauge.set(7);
  gauge.add(2);
  gauge.add(-4.5);
  metrics.gauge("depth", "How deep.").add(1);
  EXPECT_THAT(metrics.text(), HasSubstr("# HELP depth How deep.\n# TYPE depth gauge\ndepth 5.5\n"));
  Gauge().add(1);
}

TEST(MetricsTest, EachNameAndTypeHasABoundOfItsOwn) {
  Metrics metrics;
  const std::array bounds{1.0};
  for (std::size_t i = 0; i <= Metrics::kSeriesMax; ++i) {
    const Metrics::Labels who{{"who", std::to_string(i)}};
    metrics.gauge("g", "G.", who).set(1);
    metrics.histogram("h", "H.", who, bounds).observe(3);
  }
  metrics.counter("c_total", "C.", {{"who", "x"}}).add();
  const std::string text = metrics.text();
  for (const char* line : {"g{who=\"999\"} 1\n", "g{who=\"other\"} 1\n", "h_sum{who=\"999\"} 3\n",
                           "h_sum{who=\"other\"} 3\n", "c_total{who=\"x\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

}  // namespace
}  // namespace muster
