#include "scheduler/scheduler_metrics.h"

#include <algorithm>
#include <array>
#include <variant>

#include "api/kinds/kind.h"
#include "api/views/pod_facts.h"
#include "scheduler/preemption_metrics.h"

namespace muster::scheduler {
namespace {

using Seconds = std::chrono::duration<double>;

std::string_view result_of(Outcome outcome) {
  if (outcome == Outcome::Placed) return "scheduled";
  return outcome == Outcome::Error ? "error" : "unschedulable";
}
std::size_t index_of_result(std::string_view result) {
  return static_cast<std::size_t>(std::ranges::find(kResults, result) - kResults.begin());
}

std::string_view queue_name(Place place) {
  switch (place) {
    case Place::Active: return "active";
    case Place::Backoff:
    case Place::ErrorBackoff: return "backoff";
    case Place::Resting: return "unschedulable";
    case Place::Gated: return "gated";
    case Place::Nowhere:
    case Place::InFlight: break;
  }
  return {};
}

}  // namespace

// Pods that no profile serves are not tried; should one be named here, it gets series of its own.
ProfileSeries& SchedulerMetrics::of(const std::string& profile) {
  return profiles_.try_emplace(profile, *metrics_, profile, nullptr, stopwatch_ != nullptr)
      .first->second;
}

// --- events ---

void SchedulerMetrics::because(const client::Event& event) {
  if (!counts_) return;
  const api::Kind& kind = event.object->kind();
  const bool is_pod = &kind == &api::kinds::pod();
  cause_ = is_pod ? (api::holds_node(event.object) ? "AssignedPod" : "UnscheduledPod") : kind.kind;
  cause_ += event.type == client::Event::Type::Added     ? "Add"
            : event.type == client::Event::Type::Deleted ? "Delete"
                                                         : "Update";
}

void SchedulerMetrics::handled_event(Stopped since) {
  if (!counts_ || !stopwatch_) return;
  auto at = handled_.find(cause_);
  if (at == handled_.end()) {
    event_gauge(cause_);
    at = handled_
             .emplace(cause_,
                      metrics_->histogram("scheduler_event_handling_duration_seconds",
                                          "Event handling latency in seconds.", {{"event", cause_}},
                                          exponential_buckets(0.0001, 2, 12)))
             .first;
  }
  at->second.observe(Seconds(start() - since).count());
}

Gauge SchedulerMetrics::event_gauge(const std::string& event) {
  const auto [at, is_new] = events_in_flight_.try_emplace(event);
  if (is_new)
    at->second = metrics_->gauge("scheduler_inflight_events",
                                 "Number of events currently tracked in the scheduling queue.",
                                 {{"event", event}});
  return at->second;
}

void SchedulerMetrics::moved(const QueueEntity& entity) {
  const std::string_view queue = queue_name(entity.place);
  if (!counts_ || queue.empty()) return;
  const bool is_group = entity.root.has_value();
  auto at = incoming_.find({cause_, entity.place, is_group});
  if (at == incoming_.end()) {
    Metrics::Labels labels{{"queue", std::string(queue)}, {"event", cause_}};
    Counter pods;
    if (!is_group)
      pods = metrics_->counter("scheduler_queue_incoming_pods_total",
                               "Number of pods added to scheduling queues by event and queue type.",
                               labels);
    labels.emplace("type", is_group ? "podgroup" : "pod");
    const Counter entities = metrics_->counter(
        "scheduler_queue_incoming_entities_total",
        "Number of entities added to scheduling queues by event, queue and entity type.", labels);
    at = incoming_.emplace(std::tuple(cause_, entity.place, is_group), std::pair(entities, pods))
             .first;
  }
  at->second.first.add();
  at->second.second.add();
}

void SchedulerMetrics::asked_hint(std::string_view plugin, const ClusterEvent& event, bool helps,
                                  Stopped since) {
  const std::string label = event_name(event.resource, event.action);
  const std::tuple key(std::string(plugin), label, helps);
  auto at = hints_.find(key);
  if (at == hints_.end())
    at = hints_
             .emplace(key, metrics_->histogram(
                               "scheduler_queueing_hint_execution_duration_seconds",
                               "Latency for running a queueing hint function of a plugin.",
                               {{"plugin", std::string(plugin)},
                                {"event", label},
                                {"hint", helps ? "Queue" : "QueueSkip"}},
                               exponential_buckets(0.00001, 2, 12)))
             .first;
  at->second.observe(Seconds(start() - since).count());
}

// --- attempts ---

const PlacementTimer* SchedulerMetrics::placement_timer() {
  judged_.clear();
  if (!counts_ || !stopwatch_) return nullptr;
  if (!placement_timer_.stopwatch)
    placement_timer_ = {.stopwatch = stopwatch_,
                        .judged = [this](bool are_feasible, std::size_t placements, Stopped each) {
                          judged_.push_back({are_feasible, placements, each});
                        }};
  return &placement_timer_;
}

void SchedulerMetrics::attempted(const SchedulingQueue::Popped& entity, const Plan& plan,
                                 const Attempt& attempt, Time now) {
  if (!counts_) return;
  ProfileSeries& series = of(attempt.profile);
  const double seconds = Seconds(attempt.took).count();
  const bool is_group = std::holds_alternative<Group>(entity);
  if (is_group)
    attempted_group(plan, series, seconds);
  else
    attempted_pod(plan, series, seconds);
  searched_for_victims(entity, plan, attempt);
  series.asked += plan.assignments.size() + plan.refusals.size();
  remember_placed(entity, plan, attempt, now);
}

void SchedulerMetrics::attempted_pod(const Plan& plan, ProfileSeries& series, double seconds) {
  const Outcome outcome = !plan.assignments.empty() ? Outcome::Placed
                          : plan.refusals.empty()   ? Outcome::Unschedulable
                                                    : plan.refusals.front().outcome;
  if (!stopwatch_) return;
  algorithm_.observe(seconds);
  series.latency[index_of_result(result_of(outcome))].observe(seconds);
}

void SchedulerMetrics::attempted_group(const Plan& plan, ProfileSeries& series, double seconds) {
  const Outcome outcome = plan.groups.empty() ? Outcome::Error : plan.groups.front().outcome;
  const bool waits = outcome != Outcome::Placed && plan.preemption && plan.preemption->found();
  const std::size_t result = index_of_result(waits ? "waiting_on_preemption" : result_of(outcome));
  series.group_attempts[result].add();
  group_steps_.observe(static_cast<double>(plan.steps));
  const PlacementCounts& placements = plan.placements;
  series.generated.add(static_cast<double>(placements.generated));
  series.generated_by_proposal.add(static_cast<double>(placements.generated));
  series.feasible.add(static_cast<double>(placements.feasible));
  series.infeasible.add(static_cast<double>(placements.infeasible));
  if (!stopwatch_) return;
  observe_judged(series);
  group_algorithm_.observe(seconds);
  series.group_latency[result].observe(seconds);
}

// Placements that counting alone refused took nanoseconds each, and there are as many of them as
// nodes: beyond a few they are not worth the time it takes to count them.
void SchedulerMetrics::observe_judged(ProfileSeries& series) {
  constexpr std::size_t kObservedMax = 64;
  for (const Judged& judged : judged_)
    for (std::size_t i = 0; i < std::min(judged.placements, kObservedMax); ++i)
      (judged.are_feasible ? series.judged_feasible : series.judged_infeasible)
          .observe(Seconds(judged.each).count());
  judged_.clear();
}

void SchedulerMetrics::searched_for_victims(const SchedulingQueue::Popped& entity, const Plan& plan,
                                            const Attempt& attempt) {
  if (!stopwatch_ || !plan.preemption) return;
  const auto* root = std::get_if<Group>(&entity);
  const char* const preemptor = root == nullptr                         ? "pod"
                                : root->key.kind == GroupKind::PodGroup ? "podgroup"
                                                                        : "compositepodgroup";
  const std::string_view status = status_name(plan.preemption->answer);
  const double seconds = Seconds(attempt.searched).count();
  metrics_
      ->histogram("scheduler_preemption_evaluation_duration_seconds",
                  "How long it took to find out whom to evict.",
                  {{"preemptor", preemptor}, {"result", std::string(status)}},
                  exponential_buckets(0.001, 2, 16))
      .observe(seconds);
  of(attempt.profile)
      .observe_point(*metrics_, root == nullptr ? "PostFilter" : "PodGroupPostFilter", status,
                     seconds);
}

void SchedulerMetrics::remember_placed(const SchedulingQueue::Popped& entity, const Plan& plan,
                                       const Attempt& attempt, Time now) {
  if (plan.assignments.empty()) return;
  boost::unordered_flat_map<std::string_view, const PendingPod*> tried;
  std::optional<Time> first;
  const auto add = [&](const PendingPod& pod) {
    tried.emplace(pod.pod->meta().uid, &pod);
    first = first ? std::min(*first, pod.queued_at) : pod.queued_at;
  };
  const auto walk = [&](const auto& self, const Group& group) -> void {
    for (const PendingPod& pod : group.pods) add(pod);
    for (const Group& child : group.children) self(self, child);
  };
  if (const auto* pod = std::get_if<PendingPod>(&entity))
    add(*pod);
  else
    walk(walk, std::get<Group>(entity));
  const bool is_tree = !plan.groups.empty() && plan.groups.front().outcome == Outcome::Placed;
  if (is_tree && first) group_wait_.observe(Seconds(now - *first).count());
  for (const Assignment& assignment : plan.assignments)
    if (const auto at = tried.find(assignment.pod->meta().uid); at != tried.end())
      placed_.insert_or_assign(std::string(at->first), Placed{.profile = attempt.profile,
                                                              .attempts = at->second->attempts,
                                                              .queued_at = at->second->queued_at,
                                                              .placed_at = now,
                                                              .is_flushed = attempt.is_flushed});
}

void SchedulerMetrics::refused(const std::string& profile, Outcome outcome) {
  if (counts_) of(profile).attempts[index_of_result(result_of(outcome))].add();
}

void SchedulerMetrics::bound(const api::Object& pod, Time now) {
  if (!counts_) return;
  const std::string& profile = pod.view<api::PodView>().scheduler_name;
  ProfileSeries& series = of(profile);
  series.attempts[index_of_result("scheduled")].add();
  const auto at = placed_.find(pod.meta().uid);
  if (at == placed_.end()) return;
  const Placed& placed = at->second;
  const auto tries = static_cast<std::size_t>(std::max(placed.attempts, 1));
  attempts_.observe(static_cast<double>(tries));
  sli_[std::min(tries, kAttemptsShown) - 1].observe(Seconds(now - placed.queued_at).count());
  if (placed.is_flushed) after_flush_.add();
  series.observe_point(*metrics_, "Bind", "Success",
                       Seconds(now - placed.prepared_at.value_or(placed.placed_at)).count());
  placed_.erase(at);
}

void SchedulerMetrics::prepared(std::string_view uid, Time now) {
  const auto at = placed_.find(std::string(uid));
  if (at == placed_.end()) return;
  at->second.prepared_at = now;
  of(at->second.profile)
      .observe_point(*metrics_, "PreBind", "Success", Seconds(now - at->second.placed_at).count());
}

void SchedulerMetrics::waited_for_permit(bool is_allowed, Duration waited) {
  if (!counts_) return;
  metrics_
      ->histogram("scheduler_permit_wait_duration_seconds", "Duration of waiting on permit.",
                  {{"result", is_allowed ? "Success" : "Unschedulable"}},
                  exponential_buckets(0.001, 2, 15))
      .observe(Seconds(waited).count());
}

void SchedulerMetrics::bind_failed(std::string_view uid, Time now) {
  const auto at = placed_.find(std::string(uid));
  if (at == placed_.end()) return;
  const Placed& placed = at->second;
  of(placed.profile)
      .observe_point(*metrics_, "Bind", "Error",
                     Seconds(now - placed.prepared_at.value_or(placed.placed_at)).count());
  placed_.erase(at);
}

}  // namespace muster::scheduler
