#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
//   add ──────────▶ due ──pop: namespaces take turns──▶ the controller looks
//   add_at, retry ─▶ later ──its time has come──▲              │
//                                               └─ release ◀── hold: a call is under way
//
// A due key is in the queue once, however often it was added; a later one waits for the
// earliest time it was given. A held key is not handed out: if it becomes due meanwhile, it is
// handed out after the release. Memory is proportional to the keys that are due, waiting, held
// or failing.
//
// Keys of one namespace come in the order in which they became due. Namespaces take turns, keys
// without one count as one more: a namespace with a hundred thousand keys delays others by one. A
// turn that looked at much counts as several (charge()): others then go first.
//
//   turns:  clock_ = 7 │ 7 a │ 7 b │ 8 c │ 31 d        d has looked at 24 x kChargeUnit objects
//
// Every operation costs O(log keys): keys whose time has come are moved a few at a time.
class WorkQueue {
 public:
  // Each charge of this much is one more turn.
  static constexpr std::uint64_t kChargeUnit = 64;
  // How many keys of a namespace, and how many namespaces, are moved from later to due at once.
  static constexpr std::size_t kMovedMax = 64;

  // `name` is the queue's in the metrics; `metrics` may be null.
  explicit WorkQueue(std::string_view name = {}, Metrics* metrics = nullptr);

  void add(std::string_view key, Time now);
  void add_at(Time when, std::string_view key);
  // Adds it again after a pause that doubles with every failure in a row, within bounds.
  void retry(std::string_view key, Time now);
  // The next failure of this key is its first.
  void forget_failures(std::string_view key);

  // Keys are held several times if several calls are about them.
  void hold(std::string_view key);
  void release(std::string_view key, Time now);
  bool is_held(std::string_view key) const;

  // The next key that is due and not held.
  std::optional<std::string> pop(Time now);
  // The look at this key has read this many objects.
  void charge(std::string_view key, std::uint64_t cost);

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
  // The keys of a namespace.
  struct Group {
    std::deque<std::string> due;                   // in the order they became due
    std::set<std::pair<Time, std::string>> later;  // those with State::later
    std::uint64_t turn = 0;                        // the clock of its next turn
    std::optional<std::uint64_t> place;            // among those of one turn; none: not in turns_
    std::optional<Time> wakes;                     // its place in sleeping_
    bool rests = false;                            // it is in resting_
  };
  using Groups = std::map<std::string, Group, std::less<>>;  // by namespace

  Group& group_of(std::string_view key);
  void make_due(const std::string& key, State& state, Time since);
  // Puts the group where its keys require, or forgets it. One that has a turn keeps it.
  void arrange(Groups::iterator at, Time now);
  void arrange(std::string_view key);
  void leave(Groups::iterator at);
  void wake_groups(Time now);
  void move_due(Group& group, Time now);
  std::optional<std::string> pop_of(Group& group, Time now);
  void drop_if_idle(States::iterator at);
  void report_depth() const { depth_.set(static_cast<double>(due_)); }
  void report_running() const;

  States states_;  // by key; never iterated
  Groups groups_;  // those with keys that are due or later, and those in resting_
  // Each group is in one of them: has something due, has only what is for later, has nothing but
  // has been charged beyond the clock.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Groups::iterator> turns_;
  std::map<std::pair<Time, std::string_view>, Groups::iterator> sleeping_;
  std::map<std::pair<std::uint64_t, std::string_view>, Groups::iterator> resting_;
  std::uint64_t clock_ = 0;                      // the turn that was taken last
  std::uint64_t last_place_ = 0;                 // that was given
  std::size_t due_ = 0;                          // keys that are
  std::set<std::pair<Time, std::string>> held_;  // those with State::holds, by since when
  Time held_origin_{};                           // what the sum counts from
  Duration held_sum_{};                          // of those times
  Time now_{};                                   // the last `now` it was given
  Counter adds_, retries_;
  Gauge depth_, unfinished_, longest_;
  Histogram waited_;
};

}  // namespace muster::client
