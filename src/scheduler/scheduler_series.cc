#include "scheduler/scheduler_series.h"

#include <fmt/format.h>

#include <utility>

namespace muster::scheduler {
namespace {

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

const std::vector<double>& durations() {
  static const std::vector<double> kBounds = exponential_buckets(0.001, 2, 15);
  return kBounds;
}

ProfileSeries::ProfileSeries(Metrics& metrics, std::string scheduler_name, const Profile* profile,
                             bool is_measured)
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

void ProfileSeries::observe_point(Metrics& metrics, std::string_view point, std::string_view status,
                                  double seconds) {
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

}  // namespace muster::scheduler
