#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/profile.h"

// The series that the scheduler counts in: their names, buckets and labels.
namespace muster::scheduler {

// Upstream's name of an event: NodeAdd, AssignedPodDelete, ...
std::string event_name(Resource resource, Action action);

// Upstream's exponential buckets.
std::vector<double> exponential_buckets(double first, double factor, int count);
// Those of how long work takes, in seconds.
const std::vector<double>& durations();

// The last one is for groups only.
inline constexpr std::array<std::string_view, 4> kResults{"scheduled", "unschedulable", "error",
                                                          "waiting_on_preemption"};
inline constexpr std::size_t kPodResults = 3;

// Higher numbers of attempts share one series.
inline constexpr std::size_t kAttemptsShown = 15;

// The series of one profile.
struct ProfileSeries {
  // Without a profile there are no plugins to count.
  ProfileSeries(Metrics& metrics, std::string scheduler_name, const Profile* profile,
                bool is_measured);

  // One run of an extension point. Both texts must live forever.
  void observe_point(Metrics& metrics, std::string_view point, std::string_view status,
                     double seconds);

  std::array<Counter, kPodResults> attempts;
  std::array<::muster::Histogram, kPodResults> latency;
  std::array<Counter, kResults.size()> group_attempts;
  std::array<::muster::Histogram, kResults.size()> group_latency;
  // Placements of groups: all there were, by upstream's name and by that of the proposal; what was
  // found out about them.
  Counter generated, generated_by_proposal, feasible, infeasible;
  std::string name;
  // By extension point and status: what running it took.
  std::map<std::pair<std::string_view, std::string_view>, ::muster::Histogram> points;
  ::muster::Histogram judged_feasible, judged_infeasible;  // by how long it took, if measured
  std::vector<Counter> evaluations;                        // of each filter, then of each score
  std::uint64_t asked = 0;  // pods that all of them were asked about since the last update
};

}  // namespace muster::scheduler
