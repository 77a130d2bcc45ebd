#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/metrics.h"
#include "base/time.h"

namespace muster::scheduler {

// What the scheduler counts, under upstream's names. It only looks: nothing is decided by it.
class SchedulerMetrics {
 public:
  // What has happened since the start, and what waits now.
  struct Numbers {
    std::uint64_t scheduled = 0, unschedulable = 0, errors = 0;  // pods
    std::size_t active = 0, backoff = 0, unschedulable_now = 0, gated = 0;
  };
  using Stopwatch = std::function<std::chrono::nanoseconds()>;

  // `metrics` may be null, `stopwatch` empty: then nothing is counted, or no durations.
  SchedulerMetrics(Metrics* metrics, const std::string& profile, Stopwatch stopwatch);

  // Measures one attempt, from here until the result is destroyed.
  class Measured {
   public:
    explicit Measured(const SchedulerMetrics& metrics)
        : metrics_(metrics),
          start_(metrics.stopwatch_ ? metrics.stopwatch_() : std::chrono::nanoseconds{}) {}
    Measured(const Measured&) = delete;
    Measured& operator=(const Measured&) = delete;
    ~Measured();

   private:
    const SchedulerMetrics& metrics_;
    const std::chrono::nanoseconds start_;
  };
  Measured measure_attempt() const { return Measured(*this); }

  // Whether update() is worth a look at the numbers: once a second is enough for those who read.
  bool is_due(Time now) const;
  void update(const Numbers& numbers, Time now);

 private:
  const Stopwatch stopwatch_;
  bool counts_ = false;
  Counter scheduled_, unschedulable_, errors_;
  Gauge active_, backoff_, unschedulable_now_, gated_;
  Histogram algorithm_;
  Numbers last_;
  std::optional<Time> updated_;
};

}  // namespace muster::scheduler
