#include "client/kit/work_queue.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/check.h"

namespace muster::client {
namespace {

constexpr Duration kPauseMin = std::chrono::milliseconds{50};
constexpr Duration kPauseMax = std::chrono::seconds{30};

std::string_view name_space_of(std::string_view key) {
  const std::size_t slash = key.find('/');
  return slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
}

}  // namespace

WorkQueue::WorkQueue(std::string_view name, Metrics* metrics) {
  if (metrics == nullptr) return;
  const Metrics::Labels labels{{"name", std::string(name)}};
  adds_ =
      metrics->counter("workqueue_adds_total", "Total number of adds handled by workqueue", labels);
  retries_ = metrics->counter("workqueue_retries_total",
                              "Total number of retries handled by workqueue", labels);
  depth_ = metrics->gauge("workqueue_depth", "Current depth of workqueue", labels);
  unfinished_ = metrics->gauge(
      "workqueue_unfinished_work_seconds",
      "How many seconds of work has been done that is in progress and hasn't been observed by "
      "work_duration. Large values indicate stuck threads. One can deduce the number of stuck "
      "threads by observing the rate at which this increases.",
      labels);
  longest_ = metrics->gauge("workqueue_longest_running_processor_seconds",
                            "How many seconds has the longest running processor for workqueue been "
                            "running.",
                            labels);
  // Upstream's buckets: powers of ten from 10 ns on.
  constexpr std::array kBounds{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2, 1e3};
  waited_ = metrics->histogram(
      "workqueue_queue_duration_seconds",
      "How long in seconds an item stays in workqueue before being requested.", labels, kBounds);
}

void WorkQueue::add(std::string_view key, Time now) {
  const auto at = states_.try_emplace(std::string(key)).first;
  make_due(at->first, at->second, now);
  arrange(key);
}

void WorkQueue::make_due(const std::string& key, State& state, Time since) {
  if (state.holds > 0) {
    state.due_after_release = true;
    return;
  }
  if (state.due) return;
  state.due = true;
  state.due_since = since;
  group_of(key).due.push_back(key);
  ++due_;
  adds_.add();
  report_depth();
}

WorkQueue::Group& WorkQueue::group_of(std::string_view key) {
  const std::string_view name_space = name_space_of(key);
  const auto at = groups_.find(name_space);
  return at != groups_.end() ? at->second
                             : groups_.try_emplace(std::string(name_space)).first->second;
}

void WorkQueue::add_at(Time when, std::string_view key) {
  State& state = states_.try_emplace(std::string(key)).first->second;
  if (state.later && *state.later <= when) return;
  Group& group = group_of(key);
  if (state.later) group.later.erase({*state.later, std::string(key)});
  state.later = when;
  group.later.emplace(when, key);
  arrange(key);
}

void WorkQueue::retry(std::string_view key, Time now) {
  State& state = states_.try_emplace(std::string(key)).first->second;
  state.pause = std::clamp(state.pause * 2, kPauseMin, kPauseMax);
  retries_.add();
  add_at(now + state.pause, key);
}

void WorkQueue::forget_failures(std::string_view key) {
  const auto at = states_.find(std::string(key));
  if (at == states_.end()) return;
  at->second.pause = {};
  drop_if_idle(at);
}

// Held during a look at the key, so since the time of the last pop.
void WorkQueue::hold(std::string_view key) {
  const auto at = states_.try_emplace(std::string(key)).first;
  State& state = at->second;
  if (state.holds++ > 0) return;
  if (held_.empty()) held_origin_ = now_;
  state.held_since = now_;
  held_.emplace(now_, at->first);
  held_sum_ += now_ - held_origin_;
  report_running();
}

// Work in progress is what calls are under way about.
void WorkQueue::report_running() const {
  using Seconds = std::chrono::duration<double>;
  const auto held = static_cast<std::int64_t>(held_.size());
  unfinished_.set(Seconds((now_ - held_origin_) * held - held_sum_).count());
  longest_.set(held == 0 ? 0.0 : Seconds(now_ - held_.begin()->first).count());
}

void WorkQueue::release(std::string_view key, Time now) {
  const auto at = states_.find(std::string(key));
  CHECK(at != states_.end() && at->second.holds > 0);
  State& state = at->second;
  now_ = std::max(now_, now);
  if (--state.holds > 0) return report_running();
  held_.erase({state.held_since, at->first});
  held_sum_ -= state.held_since - held_origin_;
  report_running();
  if (std::exchange(state.due_after_release, false)) {
    make_due(at->first, state, now);
    arrange(key);
  }
  drop_if_idle(at);
}

bool WorkQueue::is_held(std::string_view key) const {
  const auto at = states_.find(std::string(key));
  return at != states_.end() && at->second.holds > 0;
}

std::optional<std::string> WorkQueue::pop(Time now) {
  now_ = std::max(now_, now);
  report_running();
  for (;;) {
    wake_groups(now);
    if (turns_.empty()) return std::nullopt;
    const auto at = turns_.begin()->second;
    Group& group = at->second;
    clock_ = group.turn;
    move_due(group, now);
    std::optional<std::string> key = pop_of(group, now);
    leave(at);
    if (key) ++group.turn;
    arrange(at, now);
    if (key) return key;
  }
}

// Groups whose first key for later is due get a turn; those that have been charged for what the
// others have had meanwhile are forgotten. If nobody else wants a turn, nobody has to wait for one.
void WorkQueue::wake_groups(Time now) {
  for (std::size_t i = 0; i < kMovedMax && !sleeping_.empty(); ++i) {
    const auto first = sleeping_.begin();
    if (first->first.first > now) break;
    arrange(first->second, now);
  }
  for (std::size_t i = 0; i < kMovedMax && !resting_.empty(); ++i) {
    const auto first = resting_.begin();
    if (!turns_.empty() && first->first.first > clock_) break;
    const auto at = first->second;
    leave(at);
    at->second.turn = 0;
    arrange(at, now);
  }
}

void WorkQueue::move_due(Group& group, Time now) {
  for (std::size_t i = 0; i < kMovedMax && !group.later.empty(); ++i) {
    if (group.later.begin()->first > now) return;
    const auto first = group.later.extract(group.later.begin());
    const auto& [when, key] = first.value();
    State& state = states_.at(key);
    state.later.reset();
    make_due(key, state, when);
  }
}

std::optional<std::string> WorkQueue::pop_of(Group& group, Time now) {
  while (!group.due.empty()) {
    std::string key = std::move(group.due.front());
    group.due.pop_front();
    --due_;
    report_depth();
    const auto at = states_.find(key);
    CHECK(at != states_.end() && at->second.due);
    State& state = at->second;
    state.due = false;
    if (state.holds > 0) {  // held after it had become due
      state.due_after_release = true;
      continue;
    }
    waited_.observe(std::chrono::duration<double>(now - state.due_since).count());
    drop_if_idle(at);
    return key;
  }
  return std::nullopt;
}

void WorkQueue::charge(std::string_view key, std::uint64_t cost) {
  const std::uint64_t turns = cost / kChargeUnit;
  if (turns == 0) return;
  Group& group = group_of(key);
  const auto at = groups_.find(name_space_of(key));
  leave(at);
  group.turn = std::max(group.turn, clock_) + turns;
  arrange(at, Time::min());
}

// What has become due meanwhile of what was for later is seen by the next pop().
void WorkQueue::arrange(std::string_view key) {
  arrange(groups_.find(name_space_of(key)), Time::min());
}

void WorkQueue::arrange(Groups::iterator at, Time now) {
  if (at == groups_.end()) return;
  Group& group = at->second;
  if (group.place) return;  // it has a turn
  leave(at);
  if (!group.due.empty() || (!group.later.empty() && group.later.begin()->first <= now)) {
    group.turn = std::max(group.turn, clock_);
    group.place = ++last_place_;
    turns_.emplace(std::pair(group.turn, *group.place), at);
  } else if (!group.later.empty()) {
    group.wakes = group.later.begin()->first;
    sleeping_.emplace(std::pair(*group.wakes, std::string_view(at->first)), at);
  } else if (group.turn > clock_) {
    group.rests = true;
    resting_.emplace(std::pair(group.turn, std::string_view(at->first)), at);
  } else {
    groups_.erase(at);
  }
}

void WorkQueue::leave(Groups::iterator at) {
  Group& group = at->second;
  if (group.place) turns_.erase({group.turn, *group.place});
  if (group.wakes) sleeping_.erase({*group.wakes, at->first});
  if (group.rests) resting_.erase({group.turn, at->first});
  group.place.reset();
  group.wakes.reset();
  group.rests = false;
}

void WorkQueue::drop_if_idle(States::iterator at) {
  if (at->second.is_idle()) states_.erase(at);
}

std::optional<Time> WorkQueue::next_deadline() const {
  if (!turns_.empty()) return Time{};
  if (sleeping_.empty()) return std::nullopt;
  return sleeping_.begin()->first.first;
}

}  // namespace muster::client
