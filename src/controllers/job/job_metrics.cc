#include "controllers/job/job_metrics.h"

#include <array>
#include <string>

namespace muster::controllers {
namespace {

constexpr std::array kSyncBounds{0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512,
                                 1.024, 2.048, 4.096, 8.192, 16.38, 32.76, 65.53};

std::string mode_of(const api::JobView& job) { return job.is_indexed() ? "Indexed" : "NonIndexed"; }

}  // namespace

JobMetrics::JobMetrics(const client::ComponentContext& context)
    : metrics_(context.metrics), stopwatch_(context.stopwatch) {}

void JobMetrics::looked(const api::JobView& job, std::string_view action,
                        std::chrono::nanoseconds took) const {
  if (metrics_ == nullptr || !stopwatch_) return;
  metrics_
      ->histogram("job_controller_job_sync_duration_seconds", "The time it took to sync a job",
                  {{"completion_mode", mode_of(job)},
                   {"result", "success"},
                   {"action", std::string(action)}},
                  kSyncBounds)
      .observe(std::chrono::duration<double>(took).count());
}

void JobMetrics::pod_created(bool replaces_failed, bool success) const {
  if (metrics_ == nullptr) return;
  metrics_
      ->counter("job_controller_job_pods_creation_total",
                "The number of Pods created by the Job controller labelled with a reason for the "
                "Pod creation.",
                {{"reason", replaces_failed ? "recreate_failed" : "new"},
                 {"status", success ? "succeeded" : "failed"}})
      .add();
}

void JobMetrics::object_created(const std::string& kind, bool success, Duration took) const {
  if (metrics_ == nullptr) return;
  metrics_
      ->counter("muster_job_scheduling_objects_total",
                "Workloads and PodGroups that the Job controller tried to create.",
                {{"kind", kind}, {"status", success ? "succeeded" : "failed"}})
      .add();
  if (kind == "Workload" && success)
    metrics_
        ->histogram("job_controller_workload_creation_duration_seconds",
                    "The time it took to create the Workload of a job", {}, kSyncBounds)
        .observe(std::chrono::duration<double>(took).count());
}

void JobMetrics::finished(const api::JobView& job, bool success, std::string_view reason) const {
  if (metrics_ == nullptr) return;
  metrics_
      ->counter("job_controller_jobs_finished_total", "The number of finished jobs",
                {{"completion_mode", mode_of(job)},
                 {"result", success ? "succeeded" : "failed"},
                 {"reason", std::string(reason)}})
      .add();
}

}  // namespace muster::controllers
