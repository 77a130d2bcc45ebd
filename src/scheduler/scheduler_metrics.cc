#include "scheduler/scheduler_metrics.h"

#include <array>
#include <utility>

namespace muster::scheduler {
namespace {

constexpr Duration kPeriod = std::chrono::seconds{1};

// Upstream's: fifteen buckets that double from a millisecond on.
constexpr std::array kDurations{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128,
                                0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384};

}  // namespace

SchedulerMetrics::SchedulerMetrics(Metrics* metrics, const std::string& profile,
                                   Stopwatch stopwatch)
    : stopwatch_(std::move(stopwatch)), counts_(metrics != nullptr) {
  if (metrics == nullptr) return;
  const auto attempts = [&](const char* result) {
    return metrics->counter(
        "scheduler_schedule_attempts_total",
        "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not "
        "be scheduled, while 'error' means an internal scheduler problem.",
        {{"profile", profile}, {"result", result}});
  };
  scheduled_ = attempts("scheduled");
  unschedulable_ = attempts("unschedulable");
  errors_ = attempts("error");
  const auto pending = [&](const char* queue) {
    return metrics->gauge("scheduler_pending_entities",
                          "Lone pods and trees of groups that wait, by the queue they are in.",
                          {{"queue", queue}});
  };
  active_ = pending("active");
  backoff_ = pending("backoff");
  unschedulable_now_ = pending("unschedulable");
  gated_ = pending("gated");
  if (stopwatch_)
    algorithm_ = metrics->histogram("scheduler_scheduling_algorithm_duration_seconds",
                                    "Scheduling algorithm latency in seconds", {}, kDurations);
}

SchedulerMetrics::Measured::~Measured() {
  if (metrics_.stopwatch_)
    metrics_.algorithm_.observe(
        std::chrono::duration<double>(metrics_.stopwatch_() - start_).count());
}

bool SchedulerMetrics::is_due(Time now) const {
  return counts_ && (!updated_ || now - *updated_ >= kPeriod);
}

void SchedulerMetrics::update(const Numbers& numbers, Time now) {
  scheduled_.add(static_cast<double>(numbers.scheduled - last_.scheduled));
  unschedulable_.add(static_cast<double>(numbers.unschedulable - last_.unschedulable));
  errors_.add(static_cast<double>(numbers.errors - last_.errors));
  active_.set(static_cast<double>(numbers.active));
  backoff_.set(static_cast<double>(numbers.backoff));
  unschedulable_now_.set(static_cast<double>(numbers.unschedulable_now));
  gated_.set(static_cast<double>(numbers.gated));
  last_ = numbers;
  updated_ = now;
}

}  // namespace muster::scheduler
