#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "api/views/job_view.h"
#include "base/metrics.h"
#include "client/component.h"

namespace muster::controllers {

// The numbers of the Job controller, under upstream's names.
class JobMetrics {
 public:
  explicit JobMetrics(const client::ComponentContext& context);

  // The result of one look at a Job: "reconciling", "tracking", "pods_created", "pods_deleted".
  void looked(const api::JobView& job, std::string_view action,
              std::chrono::nanoseconds took) const;
  void pod_created(bool replaces_failed, bool success) const;
  // A Workload or a PodGroup.
  void object_created(const std::string& kind, bool success, Duration took) const;
  void finished(const api::JobView& job, bool success, std::string_view reason) const;
  std::chrono::nanoseconds stopwatch() const {
    return stopwatch_ ? stopwatch_() : std::chrono::nanoseconds{};
  }

 private:
  Metrics* const metrics_;  // may be null
  const std::function<std::chrono::nanoseconds()> stopwatch_;
};

}  // namespace muster::controllers
