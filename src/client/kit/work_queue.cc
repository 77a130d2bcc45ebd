#include "client/kit/work_queue.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/check.h"

namespace muster::client {
namespace {

constexpr Duration kPauseMin = std::chrono::milliseconds{50};
constexpr Duration kPauseMax = std::chrono::seconds{30};

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
}

void WorkQueue::make_due(const std::string& key, State& state, Time since) {
  if (state.holds > 0) {
    state.due_after_release = true;
    return;
  }
  if (state.due) return;
  state.due = true;
  state.due_since = since;
  due_.push_back(key);
  adds_.add();
  report_depth();
}

void WorkQueue::add_at(Time when, std::string_view key) {
  State& state = states_.try_emplace(std::string(key)).first->second;
  if (state.later && *state.later <= when) return;
  if (state.later) later_.erase({*state.later, std::string(key)});
  state.later = when;
  later_.emplace(when, key);
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
  if (std::exchange(state.due_after_release, false)) make_due(at->first, state, now);
  drop_if_idle(at);
}

bool WorkQueue::is_held(std::string_view key) const {
  const auto at = states_.find(std::string(key));
  return at != states_.end() && at->second.holds > 0;
}

std::optional<std::string> WorkQueue::pop(Time now) {
  now_ = std::max(now_, now);
  report_running();
  make_due_those_whose_time_has_come(now);
  while (!due_.empty()) {
    std::string key = std::move(due_.front());
    due_.pop_front();
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

void WorkQueue::make_due_those_whose_time_has_come(Time now) {
  while (!later_.empty() && later_.begin()->first <= now) {
    const auto first = later_.extract(later_.begin());
    const auto& [when, key] = first.value();
    State& state = states_.at(key);
    state.later.reset();
    make_due(key, state, when);
  }
}

void WorkQueue::drop_if_idle(States::iterator at) {
  if (at->second.is_idle()) states_.erase(at);
}

std::optional<Time> WorkQueue::next_deadline() const {
  if (!due_.empty()) return Time{};
  if (later_.empty()) return std::nullopt;
  return later_.begin()->first;
}

}  // namespace muster::client
