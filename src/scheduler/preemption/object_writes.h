#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "api/object.h"
#include "api/request.h"
#include "client/kit/calls.h"

namespace muster::scheduler {

// Writes about single objects, each meant for one uid. A bounded number of calls at a time; a busy
// server is asked again. A conflict does not say who was in the way: the object is read, and if it
// is still the same one, the write is repeated.
class ObjectWrites {
 public:
  struct Options {
    std::size_t in_flight_max = 100;
  };
  enum class End : std::uint8_t {
    Done,
    Gone,    // there is no object of this uid any more
    Failed,  // unknown whether it was done
  };
  struct Ended {
    End end = End::Done;
    Error error = {};            // if it failed
    api::ObjectPtr object = {};  // what was read, if that was asked for
  };
  using OnEnded = std::function<void(const Ended& ended, Time now)>;
  struct Write {
    api::ObjectPtr object;
    // The request; nullopt: no longer wanted, nothing is reported. Empty: the object is only
    // read.
    std::function<std::optional<api::Request>(Time now)> request;
    OnEnded on_ended;
    bool is_endless = false;  // asked for until it is done or the object is gone
    // If endless: the server has refused it once more. May be empty.
    std::function<void(const Error& error, Time now)> on_refused = {};
  };

  ObjectWrites(Options options, client::Calls& calls) : options_(options), calls_(calls) {}

  void add(Write write, Time now);
  void run(Time now);
  std::optional<Time> next_deadline() const;
  std::size_t pending() const { return tasks_.size(); }

 private:
  using Id = std::uint64_t;
  struct Task {
    Write write;
    bool reads = false;  // the next call reads the object
    int tries = 0;
  };

  void send(Id id, Time now);
  void finish(Id id, const client::Outcome& outcome, Time now);
  void end(Id id, const Ended& ended, Time now);
  void try_again(Id id, const Error& error, Time now);

  const Options options_;
  client::Calls& calls_;
  Id last_id_ = 0;
  std::size_t in_flight_ = 0;
  boost::unordered_flat_map<Id, Task> tasks_;  // never iterated
  std::deque<Id> waiting_;
  std::set<std::pair<Time, Id>> retries_;
};

}  // namespace muster::scheduler
