// The gauges that describe the present state, brought up to date now and then.
#include <string>

#include "scheduler/scheduler_metrics.h"

namespace muster::scheduler {

bool SchedulerMetrics::is_due(Time now) const {
  return counts_ && (!updated_ || now - *updated_ >= period_);
}

void SchedulerMetrics::count_evaluations() {
  for (auto& [name, series] : profiles_) {
    for (const Counter& evaluation : series.evaluations)
      evaluation.add(static_cast<double>(series.asked));
    series.asked = 0;
  }
}

void SchedulerMetrics::show_events(const QueueCensus& census) {
  for (const auto& [event, gauge] : events_in_flight_) gauge.set(0);
  for (const auto& [event, count] : census.events)
    event_gauge(event_name(event.first, event.second)).add(static_cast<double>(count));
}

void SchedulerMetrics::update(const QueueCensus& census, const Cache& cache, Time now) {
  const auto set = [](const QueueGauges& gauges, const QueueCensus::Row& row) {
    gauges.pods.set(static_cast<double>(row.pods));
    gauges.lone.set(static_cast<double>(row.lone));
    gauges.groups.set(static_cast<double>(row.groups));
    gauges.pending_lone.set(static_cast<double>(row.lone));
    gauges.pending_groups.set(static_cast<double>(row.groups));
  };
  set(active_, census.active);
  set(backoff_, census.backoff);
  set(resting_, census.unschedulable);
  set(gated_, census.gated);
  pending_.set(static_cast<double>(census.in_flight));
  incomplete_.set(static_cast<double>(census.incomplete));
  binding_.set(static_cast<double>(cache.assumed));
  nodes_.set(static_cast<double>(cache.nodes));
  pods_.set(static_cast<double>(cache.pods));
  assumed_.set(static_cast<double>(cache.assumed));
  for (const auto& [key, count] : census.refused) unschedulable_.try_emplace(key);
  for (auto& [key, gauge] : unschedulable_) {
    gauge = metrics_->gauge("scheduler_unschedulable_pods",
                            "The number of unschedulable pods broken down by plugin name. A pod "
                            "will increment the gauge for all plugins that caused it to not "
                            "schedule and so this metric have meaning only when broken down by "
                            "plugin.",
                            {{"plugin", key.first}, {"profile", key.second}});
    const auto at = census.refused.find(key);
    gauge.set(at == census.refused.end() ? 0.0 : static_cast<double>(at->second));
  }
  count_evaluations();
  show_events(census);
  updated_ = now;
  // A look at a thousand more takes about as long as a second's other work for this may.
  period_ = std::chrono::seconds{1 + census.looked_at / 1000};
}

}  // namespace muster::scheduler
