#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/metrics.h"
#include "base/time.h"

namespace muster::client {

// What a controller has to look at, by key: now, at a later time, or after a pause because it
// failed.
//
//   add ──────────▶ due, first come first served ──pop──▶ the controller looks
//   add_at, retry ─▶ later ──its time has come──▲              │
//                                               └─ release ◀── hold: a call is under way
//
// A key that is due is in the queue once, however often it was added; one that waits for later
// waits for the earliest time it was given. A key that is held is not handed out: if it becomes due
// meanwhile, it is handed out after the release. Memory is proportional to the keys that are due,
// waiting, held or failing.
class WorkQueue {
 public:
  // `name` is the queue's in the metrics; `metrics` may be null.
  explicit WorkQueue(std::string_view name = {}, Metrics* metrics = nullptr);

  void add(std::string_view key, Time now);
  void add_at(Time when, std::string_view key);
  // Again after a pause that doubles with every failure of this key in a row, within bounds.
  void retry(std::string_view key, Time now);
  // The next failure of this key is its first.
  void forget_failures(std::string_view key);

  // Keys are held several times if several calls are about them.
  void hold(std::string_view key);
  void release(std::string_view key, Time now);
  bool is_held(std::string_view key) const;

  // The next key that is due and not held.
  std::optional<std::string> pop(Time now);

  // When pop() has something; in the past if it has right now.
  std::optional<Time> next_deadline() const;
  std::size_t size() const { return states_.size(); }  // keys it remembers anything about

 private:
  struct State {
    bool due = false;
    bool due_after_release = false;
    std::uint32_t holds = 0;
    Time held_since{};
    Time due_since{};
    std::optional<Time> later;
    Duration pause{};  // before the last retry; 0: the last look did not fail

    bool is_idle() const { return !due && holds == 0 && !later && pause == Duration{}; }
  };
  using States = boost::unordered_flat_map<std::string, State>;

  void make_due(const std::string& key, State& state, Time since);
  void make_due_those_whose_time_has_come(Time now);
  void drop_if_idle(States::iterator at);
  void report_depth() const { depth_.set(static_cast<double>(due_.size())); }
  void report_running() const;

  States states_;                                 // by key; never iterated
  std::deque<std::string> due_;                   // in the order they became due
  std::set<std::pair<Time, std::string>> later_;  // those with State::later
  std::set<std::pair<Time, std::string>> held_;   // those with State::holds, by since when
  Time held_origin_{};                            // what the sum counts from
  Duration held_sum_{};                           // of those times
  Time now_{};                                    // the last time it was told
  Counter adds_, retries_;
  Gauge depth_, unfinished_, longest_;
  Histogram waited_;
};

}  // namespace muster::client
