#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "base/time.h"
#include "client/client.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/plan.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/placement/options.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/scheduler_series.h"

namespace muster::scheduler {

// What the scheduler counts, under upstream's names and buckets (docs/metrics.md). It only observes
// and decides nothing. How long users wait is measured by the time passed in, how long work takes
// by the stopwatch.
class SchedulerMetrics {
 public:
  using Stopwatch = std::function<std::chrono::nanoseconds()>;
  using Stopped = std::chrono::nanoseconds;

  // `metrics` may be null, `stopwatch` empty: then nothing is counted, or no work is measured.
  SchedulerMetrics(Metrics* metrics, const Profiles& profiles, Stopwatch stopwatch);
  SchedulerMetrics(const SchedulerMetrics&) = delete;
  SchedulerMetrics& operator=(const SchedulerMetrics&) = delete;

  Stopped start() const { return stopwatch_ ? stopwatch_() : Stopped{}; }

  // --- events ---
  // Sets the event that explains the queue's moves until the next call.
  void because(std::string_view event) { cause_ = event; }
  void because(const client::Event& event);
  void handled_event(Stopped since);
  // From the queue: an entity has moved.
  void moved(const QueueEntity& entity);
  // A plugin is asked whether an event could help. Only a sample is measured.
  bool measures_hint() { return counts_ && stopwatch_ && hints_asked_++ % kHintSample == 0; }
  void asked_hint(std::string_view plugin, const ClusterEvent& event, bool helps, Stopped since);

  // Measures the time until it is destroyed, into `took`.
  class Measured {
   public:
    Measured(const SchedulerMetrics& metrics, Stopped& took)
        : metrics_(metrics), took_(took), since_(metrics.start()) {}
    Measured(const Measured&) = delete;
    Measured& operator=(const Measured&) = delete;
    ~Measured() { took_ = metrics_.start() - since_; }

   private:
    const SchedulerMetrics& metrics_;
    Stopped& took_;
    const Stopped since_;
  };

  // --- attempts ---
  // Measures how long placements of groups take to judge, until the attempt has ended; null if
  // nobody wants to know.
  const PlacementTimer* placement_timer();
  struct Attempt {
    std::string profile;      // the scheduler name it was made for
    Stopped took{};           // without the search for somebody to evict
    Stopped searched{};       // that search
    bool is_flushed = false;  // no event called for it (SchedulingQueue::is_flushed)
  };
  // An attempt ended in a plan.
  void attempted(const SchedulingQueue::Popped& entity, const Plan& plan, const Attempt& attempt,
                 Time now);
  void refused(const std::string& profile, Outcome outcome);
  // Stations of a placed pod: ready for its binding; accepted or refused by the server; or it needs
  // no node any more, or lost the one it had.
  void prepared(std::string_view uid, Time now);
  void bound(const api::Object& pod, Time now);
  void bind_failed(std::string_view uid, Time now);
  // A Permit plugin kept a pod waiting for this long.
  void waited_for_permit(bool is_allowed, Duration waited);
  void unplaced(std::string_view uid) { placed_.erase(std::string(uid)); }

  // --- looking around ---
  // What there is now, besides the queue.
  struct Cache {
    std::size_t nodes = 0, pods = 0, assumed = 0;
  };
  // Whether update() is due: once a second is enough for readers, and less often if gathering the
  // numbers takes long.
  bool is_due(Time now) const;
  void update(const QueueCensus& census, const Cache& cache, Time now);

 private:
  static constexpr std::uint64_t kHintSample = 64;
  // A pod between its plan and the server's answer.
  struct Placed {
    std::string profile;
    std::int32_t attempts = 0;
    Time queued_at;
    Time placed_at;
    bool is_flushed = false;
    std::optional<Time> prepared_at = {};
  };

  // scheduler_registration.cc
  void register_queues();
  void register_attempts();

  ProfileSeries& of(const std::string& profile);
  void attempted_pod(const Plan& plan, ProfileSeries& series, double seconds);
  void attempted_group(const Plan& plan, ProfileSeries& series, double seconds);
  void searched_for_victims(const SchedulingQueue::Popped& entity, const Plan& plan,
                            const Attempt& attempt);
  void observe_judged(ProfileSeries& series);
  void remember_placed(const SchedulingQueue::Popped& entity, const Plan& plan,
                       const Attempt& attempt, Time now);
  Gauge event_gauge(const std::string& event);
  void show_events(const QueueCensus& census);
  void count_evaluations();

  Metrics* const metrics_;
  const Stopwatch stopwatch_;
  const bool counts_;
  std::map<std::string, ProfileSeries, std::less<>> profiles_;
  boost::unordered_flat_map<std::string, Placed> placed_;  // by uid; never iterated
  std::string cause_;
  std::map<std::tuple<std::string, Place, bool>, std::pair<Counter, Counter>> incoming_;
  std::map<std::string, ::muster::Histogram> handled_;
  std::map<std::string, Gauge> events_in_flight_;
  // How long the placements of the attempt under way took to judge.
  struct Judged {
    bool are_feasible;
    std::size_t placements;
    Stopped each;
  };
  PlacementTimer placement_timer_;
  std::vector<Judged> judged_;
  Counter after_flush_;
  std::map<std::tuple<std::string, std::string, bool>, ::muster::Histogram> hints_;
  std::uint64_t hints_asked_ = 0;
  std::map<std::pair<std::string, std::string>, Gauge> unschedulable_;  // by plugin and profile
  std::vector<::muster::Histogram> sli_;                                // by attempts, from 1
  ::muster::Histogram attempts_, algorithm_, group_algorithm_, group_steps_, group_wait_;
  struct QueueGauges {
    Gauge pods, lone, groups, pending_lone, pending_groups;
  };
  QueueGauges active_, backoff_, resting_, gated_;
  Gauge pending_, incomplete_, binding_, nodes_, pods_, assumed_;
  std::optional<Time> updated_;
  Duration period_ = std::chrono::seconds{1};
};

}  // namespace muster::scheduler
