#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/scheduler_metrics.h"

// The series that SchedulerMetrics counts in. For its own files only.
namespace muster::scheduler {

// Upstream's exponential buckets.
std::vector<double> exponential_buckets(double first, double factor, int count);

// The last one is for groups only.
inline constexpr std::array<std::string_view, 4> kResults{"scheduled", "unschedulable", "error",
                                                          "waiting_on_preemption"};
inline constexpr std::size_t kPodResults = 3;

// More attempts than that share one series.
inline constexpr std::size_t kAttemptsShown = 15;

struct SchedulerMetrics::OfProfile {
  // Without a profile there are no plugins to count.
  OfProfile(Metrics& metrics, const std::string& name, const Profile* profile);

  std::array<Counter, kPodResults> attempts;
  std::array<::muster::Histogram, kPodResults> latency;
  std::array<Counter, kResults.size()> group_attempts;
  std::array<::muster::Histogram, kResults.size()> group_latency;
  // Placements of groups: all there were, by upstream's name and by that of the proposal; what was
  // found out about them.
  Counter generated, generated_by_proposal, feasible, infeasible;
  ::muster::Histogram bind;
  std::vector<Counter> evaluations;  // of each filter, then of each score
  std::uint64_t asked = 0;           // pods that all of them were asked about since the last update
};

}  // namespace muster::scheduler
