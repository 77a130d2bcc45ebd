// The series that there are from the start, so that readers see them before anything is counted.
#include <fmt/format.h>

#include <utility>

#include "scheduler/scheduler_metrics.h"
#include "scheduler/scheduler_series.h"

namespace muster::scheduler {

SchedulerMetrics::SchedulerMetrics(Metrics* metrics, const Profiles& profiles, Stopwatch stopwatch)
    : metrics_(metrics), stopwatch_(std::move(stopwatch)), counts_(metrics != nullptr) {
  if (!counts_) return;
  for (const Profiles::Named& named : profiles.all())
    profiles_.try_emplace(named.scheduler_name, *metrics, named.scheduler_name, &named.profile,
                          stopwatch_ != nullptr);
  register_queues();
  register_attempts();
}

void SchedulerMetrics::register_queues() {
  const auto gauge = [&](const char* name, const char* help, const Metrics::Labels& labels) {
    return metrics_->gauge(name, help, labels);
  };
  constexpr const char* kPods =
      "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
      "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
      "unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the "
      "number of unschedulable pods that the scheduler never attempted to schedule because they "
      "are gated.";
  const auto queue = [&](const char* name) {
    const auto entities = [&](const char* series, const char* help, const char* type) {
      return gauge(series, help, {{"queue", name}, {"type", type}});
    };
    constexpr const char* kQueued = "Number of queued entities, by queue and type.";
    constexpr const char* kPending = "Lone pods and trees of groups that wait, by queue and type.";
    return QueueGauges{
        .pods = gauge("scheduler_pending_pods", kPods, {{"queue", name}}),
        .lone = entities("scheduler_queued_entities", kQueued, "pod"),
        .groups = entities("scheduler_queued_entities", kQueued, "podgroup"),
        .pending_lone = entities("scheduler_pending_entities", kPending, "pod"),
        .pending_groups = entities("scheduler_pending_entities", kPending, "podgroup")};
  };
  active_ = queue("active");
  backoff_ = queue("backoff");
  resting_ = queue("unschedulable");
  gated_ = queue("gated");
  pending_ = gauge("scheduler_pending_pods", kPods, {{"queue", "pending"}});
  incomplete_ = gauge("scheduler_pending_pods", kPods, {{"queue", "incomplete"}});
  binding_ = gauge("scheduler_goroutines",
                   "Number of running goroutines split by the work they do such as binding.",
                   {{"operation", "binding"}});
  constexpr const char* kCache =
      "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.";
  nodes_ = gauge("scheduler_cache_size", kCache, {{"type", "nodes"}});
  pods_ = gauge("scheduler_cache_size", kCache, {{"type", "pods"}});
  assumed_ = gauge("scheduler_cache_size", kCache, {{"type", "assumed_pods"}});
}

void SchedulerMetrics::register_attempts() {
  attempts_ = metrics_->histogram("scheduler_pod_scheduling_attempts",
                                  "Number of attempts to successfully schedule a pod.", {},
                                  exponential_buckets(1, 2, 5));
  for (std::size_t i = 1; i <= kAttemptsShown; ++i)
    sli_.push_back(metrics_->histogram(
        "scheduler_pod_scheduling_sli_duration_seconds",
        "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue "
        "and might involve multiple scheduling attempts.",
        {{"attempts", i < kAttemptsShown ? std::to_string(i) : fmt::format("{}+", i)}},
        exponential_buckets(0.01, 2, 20)));
  after_flush_ = metrics_->counter(
      "scheduler_pod_scheduled_after_flush_total",
      "Pods that were bound after they had rested for so long that they were tried without any "
      "event that could have helped them. Many of them mean that such events are missed.");
  group_steps_ = metrics_->histogram("muster_group_search_steps",
                                     "Steps of the search that an attempt at a tree took.", {},
                                     exponential_buckets(1, 4, 10));
  group_wait_ = metrics_->histogram(
      "muster_group_wait_seconds",
      "From the first pod of a tree in the queue until an attempt placed the tree.", {},
      exponential_buckets(0.01, 2, 20));
  if (!stopwatch_) return;
  algorithm_ = metrics_->histogram("scheduler_scheduling_algorithm_duration_seconds",
                                   "Scheduling algorithm latency in seconds", {}, durations());
  group_algorithm_ =
      metrics_->histogram("scheduler_podgroup_scheduling_algorithm_duration_seconds",
                          "Pod group scheduling algorithm latency in seconds", {}, durations());
}

}  // namespace muster::scheduler
