#include "scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "api/kinds/kind.h"
#include "api/views/pod_facts.h"
#include "base/check.h"
#include "client/kit/calls.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/commit.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/standings.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/intake.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/report.h"
#include "scheduler/scheduler_metrics.h"

namespace muster::scheduler {

namespace {

using api::ObjectPtr;
using api::view_of;

constexpr std::string_view kGroupApi = "scheduling.k8s.io";

// After how long the first profile keeps room for a tree; never, if none does.
Duration aged_after(const Profiles& profiles) {
  Duration first = Duration::max();
  for (const Profiles::Named& named : profiles.all())
    if (const Duration after = named.profile.settings().preemption.reserve_after;
        after > Duration::zero())
      first = std::min(first, after);
  return first;
}

}  // namespace

// Everything the scheduler owns. Three parts surround the model and the queue: intake applies
// what the watch says to them, commit what we decide and the server answers; report only reads
// them.
struct Scheduler::State {
  State(SchedulerOptions options_given, Send send)
      : options(std::move(options_given)),
        model(options.profiles, {.gates = options.gates, .judged_at_once = 64}),
        queue(
            {.backoff = {.initial = options.initial_backoff, .max = options.max_backoff},
             .aged_after = aged_after(options.profiles),
             .rest_max = options.rest_max,
             .too_large =
                 [this](const GroupKey& root) {
                   return commit.beyond_one_binding(root).has_value();
                 },
             .moved =
                 [this](const QueueEntity& entity) {
                   metrics.moved(entity);
                   if (entity.root) report.tree_moved(entity);
                 }},
            model,
            [this](std::string_view plugin, const api::Object& pod, const ClusterEvent& event) {
              return ask_hint(plugin, pod, event);
            },
            [this](std::string_view plugin, Resource resource, Action action) {
              return model.profiles().listens(plugin, resource, action);
            }),
        calls(std::move(send), options.metrics, options.host),
        metrics(options.metrics, options.profiles, options.stopwatch),
        report(options, model, calls, metrics),
        commit(options, model, queue, report, calls, metrics),
        intake(model, queue, commit, report) {
    // What is kept by class is kept for each profile: together no more than for one.
    const auto profiles = model.profiles().all();
    for (const Profiles::Named& named : profiles)
      Standings::of(model.cluster(), named.profile)
          .set_bytes_max(Standings::kBytesMax / profiles.size());
  }

  bool ask_hint(std::string_view plugin, const api::Object& pod, const ClusterEvent& event) {
    const Profile& profile = model.profile_of(pod);
    model.nominations().count_nobody();  // who counts depends on who is tried
    // For a pod that may evict others it is not decided by what is free.
    const Cluster* now = commit.preemptions().may_evict(pod) ? nullptr : &model.cluster();
    if (!metrics.measures_hint()) return profile.could_help(plugin, pod, event, now);
    const auto since = metrics.start();
    const bool helps = profile.could_help(plugin, pod, event, now);
    metrics.asked_hint(plugin, event, helps, since);
    return helps;
  }

  // The scheduler name that the pods of an attempt ask for.
  std::string profile_name(const Plan& plan) const {
    const ObjectPtr pod = !plan.assignments.empty() ? plan.assignments.front().pod
                          : !plan.refusals.empty()  ? plan.refusals.front().pod
                                                    : nullptr;
    return pod != nullptr ? view_of(pod).scheduler_name : model.profiles().first().scheduler_name;
  }

  void attempt(const SchedulingQueue::Popped& entity, Time now) {
    ++attempts;
    const auto* pod = std::get_if<PendingPod>(&entity);
    std::visit([this](const auto& tried) { model.count_nominated(tried); }, entity);
    SchedulerMetrics::Stopped took{};
    Plan plan = [&] {
      const SchedulerMetrics::Measured measured(metrics, took);
      if (pod != nullptr) return attempt_pod(*pod, model.cluster(), model.profile_of(*pod->pod));
      const auto& root = std::get<Group>(entity);
      if (const auto why = commit.beyond_one_binding(root.key)) return refused_whole(root, *why);
      if (commit.preemptions().is_evicted(root))
        return refused_whole(root, "pods of the group are being evicted");
      if (commit.half_bound().is_released(root.key))
        return refused_whole(root, "pods of the group that were bound without others are deleted");
      // Nobody but an observer reads the bounds, and what is said of many groups is much the same.
      return attempt_group(root, model.cluster(), model.profile_of(root),
                           {.explained_max = 64,
                            .bounds_max = options.observe ? 20'000U : 0U,
                            .timer = metrics.placement_timer()});
    }();
    SchedulerMetrics::Stopped searched{};
    {
      const SchedulerMetrics::Measured measured(metrics, searched);
      commit.preemptions().consider(entity, plan, now);
    }
    if (options.observe) options.observe(plan, now);
    metrics.attempted(entity, plan,
                      {.profile = profile_name(plan),
                       .took = took,
                       .searched = searched,
                       .is_flushed = queue.is_flushed(queue.key_of(entity))},
                      now);
    metrics.because("ScheduleAttemptFailure");
    commit.carry_out(entity, plan, now);
  }

  // Trees that somebody left half bound come before all others.
  std::optional<SchedulingQueue::Popped> next(Time now) {
    while (const std::optional<GroupKey> root = commit.half_bound().next_found())
      if (std::optional<SchedulingQueue::Popped> tree = queue.pop_root(*root, now)) return tree;
    return queue.pop(now);
  }

  // What time alone calls for, beside attempts.
  void report_due(Time now) {
    for (const SchedulingQueue::Stranded& stranded : queue.drain_stranded(now))
      report.stranded(stranded, now);
    for (const GroupKey& root : queue.drain_comparisons(now))
      queue.trees_judged(model.compare(root), now);
    queue.trees_judged(report.judge_trees(now), now);
    report.report_trees(now);
    report.say_more(now);
    commit.go_on_accepting();
  }

  void send_due(Time now) {
    commit.run(now);
    report.run(now);
  }

  // A clock may be set back; time as the scheduler knows it never goes back.
  Time forward(Time now) { return last_now = std::max(last_now, now); }

  const SchedulerOptions options;
  ClusterModel model;
  SchedulingQueue queue;
  client::Calls calls;
  SchedulerMetrics metrics;
  Report report;
  Commit commit;
  Intake intake;
  bool synced = false;
  bool busy = false;  // inside apply or run_once
  Time last_now = Time::min();
  std::uint64_t attempts = 0;
};

namespace {

// Guards against a `send` that calls back.
class Busy {
 public:
  explicit Busy(bool& busy) : busy_(busy) {
    CHECK(!busy_);
    busy_ = true;
  }
  ~Busy() { busy_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  bool& busy_;
};

}  // namespace

Scheduler::Scheduler(SchedulerOptions options, Send send)
    : state_(std::make_unique<State>(std::move(options), std::move(send))) {}

Scheduler::~Scheduler() = default;

void Scheduler::apply(Input input, Time now) {
  const Busy busy(state_->busy);
  now = state_->forward(now);
  if (const auto* event = std::get_if<client::Event>(&input)) {
    const auto since = state_->metrics.start();
    state_->metrics.because(*event);
    state_->intake.apply(*event, now);
    state_->metrics.handled_event(since);
  } else if (const auto* called = std::get_if<Called>(&input)) {
    state_->metrics.because("BindingOutcome");
    state_->calls.complete(called->ticket, called->outcome, now);
  } else {
    state_->synced = true;
    state_->commit.synced(now);
  }
  state_->send_due(now);
}

std::size_t Scheduler::run_once(Time now, std::size_t attempts_max) {
  const Busy busy(state_->busy);
  now = state_->forward(now);
  std::size_t attempts = 0;
  while (state_->synced && attempts < attempts_max && !state_->commit.full()) {
    state_->metrics.because("BackoffComplete");
    std::optional<SchedulingQueue::Popped> next = state_->next(now);
    if (!next) break;
    state_->attempt(*next, now);
    ++attempts;
  }
  if (state_->synced) state_->report_due(now);
  if (state_->metrics.is_due(now)) update_metrics(now);
  state_->send_due(now);
  return attempts;
}

void Scheduler::update_metrics(Time now) {
  state_->metrics.update(state_->queue.census(),
                         {.nodes = state_->model.cluster().node_count(),
                          .pods = state_->model.cluster().pod_count(),
                          .assumed = state_->commit.pending()},
                         now);
}

std::optional<Time> Scheduler::next_deadline() const {
  std::optional<Time> next;
  const auto offer = [&next](std::optional<Time> time) {
    if (time) next = next ? std::min(*next, *time) : *time;
  };
  offer(state_->commit.next_deadline());
  offer(state_->report.next_deadline());
  if (!state_->synced) return next;
  if (state_->report.has_more_to_say() || state_->commit.is_accepting()) return state_->last_now;
  offer(state_->report.trees_deadline());
  if (state_->commit.full()) return next;
  if (state_->queue.has_runnable()) return state_->last_now;
  offer(state_->queue.next_deadline());
  return next;
}

std::vector<const api::Kind*> Scheduler::watched_kinds() const {
  std::vector<const api::Kind*> kinds{&api::kinds::pod(), &api::kinds::node(),
                                      &api::kinds::name_space()};
  for (const std::string_view name : {"Workload", "PodGroup", "CompositePodGroup"})
    if (const api::Kind* kind = api::find_kind(kGroupApi, name)) kinds.push_back(kind);
  if (const api::Kind* budget = api::find_kind("policy", "PodDisruptionBudget"))
    kinds.push_back(budget);
  for (const auto* more : {&VolumeBook::kinds(), &SelectorBook::kinds()})
    kinds.insert(kinds.end(), more->begin(), more->end());
  return kinds;
}

Scheduler::Numbers Scheduler::numbers() const {
  Numbers numbers;
  numbers.attempts = state_->attempts;
  numbers.scheduled = state_->commit.scheduled();
  numbers.unschedulable = state_->report.unschedulable();
  numbers.errors = state_->report.errors();
  const SchedulingQueue::Counts counts = state_->queue.counts();
  numbers.active = counts.active;
  numbers.backoff = counts.backoff;
  numbers.unschedulable_now = counts.resting;
  numbers.gated = counts.gated;
  numbers.incomplete = counts.incomplete;
  numbers.binding = state_->commit.pending();
  return numbers;
}

std::string Scheduler::audit(std::span<const ObjectPtr> nodes,
                             std::span<const ObjectPtr> pods) const {
  if (std::string wrong = state_->queue.inconsistency(); !wrong.empty()) return wrong;
  state_->model.nominations().count_nobody();
  Cluster rebuilt;
  for (const ObjectPtr& node : nodes) rebuilt.set_node(node);
  for (const ObjectPtr& pod : pods) {
    rebuilt.set_pod(pod);
    const bool waits = view_of(pod).node_name.empty() && !view_of(pod).is_terminal() &&
                       !api::is_terminating(pod) && state_->model.serves(*pod);
    if (waits && !state_->queue.knows(pod->meta().uid))
      return fmt::format("pod {} waits and the queue does not know it", api::key_text(pod->meta()));
  }
  return state_->model.cluster().difference(rebuilt);
}

}  // namespace muster::scheduler
