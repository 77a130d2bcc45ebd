#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/object.h"
#include "client/kit/calls.h"

namespace muster::scheduler {

// Writes what preemption decides about pods: victims get their condition and are deleted, waiting
// pods get or lose the node that is kept for them. A bounded number of calls at a time; a busy
// server is asked again.
class Evictor {
 public:
  struct Options {
    std::size_t in_flight_max = 100;
  };
  // A victim could not be evicted, or a nomination not be written.
  using OnFailed = std::function<void(const api::ObjectPtr& pod, const Error& error, Time now)>;

  Evictor(Options options, client::Calls& calls, OnFailed on_failed)
      : options_(options), calls_(calls), on_failed_(std::move(on_failed)) {}

  // Writes condition DisruptionTarget with this message, then deletes the pod.
  void evict(const api::ObjectPtr& pod, std::string message, Time now);
  // Writes status.nominatedNodeName; empty: takes it away.
  void nominate(const api::ObjectPtr& pod, std::string_view node, Time now);

  void run(Time now);
  std::optional<Time> next_deadline() const;
  std::size_t pending() const { return tasks_.size(); }

 private:
  enum class Step : std::uint8_t { Mark, Delete, Nominate };
  using Id = std::uint64_t;
  struct Task {
    api::ObjectPtr pod;
    Step step = Step::Mark;
    std::string text;  // the message, or the node
    int tries = 0;
  };

  void add(Task task, Time now);
  api::Request request_of(const Task& task, Time now) const;
  void finish(Id id, const client::Outcome& outcome, Time now);

  const Options options_;
  client::Calls& calls_;
  const OnFailed on_failed_;
  Id last_id_ = 0;
  std::size_t in_flight_ = 0;
  boost::unordered_flat_map<Id, Task> tasks_;  // never iterated
  // The last nomination of each pod, by uid: an older one that is asked again must not undo it.
  boost::unordered_flat_map<std::string, Id> nominating_;
  std::deque<Id> waiting_;
  std::set<std::pair<Time, Id>> retries_;
};

}  // namespace muster::scheduler
