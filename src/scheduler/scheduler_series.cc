#include "scheduler/scheduler_series.h"

#include <fmt/format.h>

#include <utility>

namespace muster::scheduler {
namespace {

const std::vector<double>& durations() {
  static const std::vector<double> kBounds = exponential_buckets(0.001, 2, 15);
  return kBounds;
}

std::string_view resource_name(Resource resource) {
  switch (resource) {
    case Resource::Node: return "Node";
    case Resource::AssignedPod: return "AssignedPod";
    case Resource::UnscheduledPod: return "UnscheduledPod";
    case Resource::TargetPod: return "TargetPod";
    case Resource::PodGroup: return "PodGroup";
    case Resource::CompositePodGroup: return "CompositePodGroup";
    case Resource::Namespace: return "Namespace";
    case Resource::PersistentVolume: return "PersistentVolume";
    case Resource::PersistentVolumeClaim: return "PersistentVolumeClaim";
    case Resource::StorageClass: return "StorageClass";
    case Resource::CSINode: return "CSINode";
    case Resource::CSIDriver: return "CSIDriver";
    case Resource::CSIStorageCapacity: return "CSIStorageCapacity";
    case Resource::VolumeAttachment: return "VolumeAttachment";
  }
  return {};
}

}  // namespace

std::string event_name(Resource resource, Action action) {
  return fmt::format("{}{}", resource_name(resource),
                     action == Action::Add      ? "Add"
                     : action == Action::Delete ? "Delete"
                                                : "Update");
}

std::vector<double> exponential_buckets(double first, double factor, int count) {
  std::vector<double> out;
  for (double bound = first; count > 0; --count, bound *= factor) out.push_back(bound);
  return out;
}

SchedulerMetrics::OfProfile::OfProfile(Metrics& metrics, std::string scheduler_name,
                                       const Profile* profile, bool is_measured)
    : name(std::move(scheduler_name)) {
  for (std::size_t i = 0; i < kResults.size(); ++i) {
    const Metrics::Labels labels{{"profile", name}, {"result", std::string(kResults[i])}};
    group_attempts[i] =
        metrics.counter("scheduler_podgroup_schedule_attempts_total",
                        "Number of attempts to schedule pod groups, by the result.", labels);
    group_latency[i] =
        metrics.histogram("scheduler_podgroup_scheduling_attempt_duration_seconds",
                          "Pod group scheduling attempt latency in seconds", labels, durations());
    if (i >= kPodResults) continue;
    attempts[i] = metrics.counter(
        "scheduler_schedule_attempts_total",
        "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could "
        "not be scheduled, while 'error' means an internal scheduler problem.",
        labels);
    latency[i] =
        metrics.histogram("scheduler_scheduling_attempt_duration_seconds",
                          "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                          labels, durations());
  }
  const Metrics::Labels of_profile{{"profile", name}};
  constexpr const char* kGenerated =
      "Number of placements that leaves of pod groups could choose from.";
  generated = metrics.counter("scheduler_generated_placements_total", kGenerated, of_profile);
  generated_by_proposal = metrics.counter("scheduler_placement_total", kGenerated, of_profile);
  const auto evaluated = [&](const char* result) {
    return metrics.counter("scheduler_placement_evaluations_total",
                           "Number of placements of pod groups that were looked at, by the result.",
                           {{"profile", name}, {"result", result}});
  };
  feasible = evaluated("feasible");
  infeasible = evaluated("infeasible");
  const auto judged = [&](const char* result) {
    return metrics.histogram("scheduler_placement_evaluation_duration_seconds",
                             "How long it took to find out whether a pod group fits a placement.",
                             {{"profile", name}, {"result", result}}, durations());
  };
  if (is_measured) {
    judged_feasible = judged("feasible");
    judged_infeasible = judged("infeasible");
  }
  if (profile == nullptr) return;
  const auto evaluation = [&](std::string_view plugin, const char* point) {
    evaluations.push_back(metrics.counter(
        "scheduler_plugin_evaluation_total",
        "Number of attempts to schedule pods by each plugin and the extension point.",
        {{"plugin", std::string(plugin)}, {"extension_point", point}, {"profile", name}}));
  };
  for (const auto& entry : profile->filters()) evaluation(entry.name, "Filter");
  for (const auto& entry : profile->scores()) evaluation(entry.name, "Score");
}

void SchedulerMetrics::OfProfile::observe_point(Metrics& metrics, std::string_view point,
                                                std::string_view status, double seconds) {
  auto at = points.find({point, status});
  if (at == points.end()) {
    const Metrics::Labels labels{{"extension_point", std::string(point)},
                                 {"status", std::string(status)},
                                 {"profile", name}};
    at = points
             .emplace(
                 std::pair(point, status),
                 metrics.histogram("scheduler_framework_extension_point_duration_seconds",
                                   "Latency for running all plugins of a specific extension point.",
                                   labels, exponential_buckets(0.0001, 2, 12)))
             .first;
  }
  at->second.observe(seconds);
}

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
