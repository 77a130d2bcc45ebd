#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "client/kit/calls.h"
#include "scheduler/framework/plan.h"

namespace muster::scheduler {

// Turns the assignments of a plan into bindings, a bounded number at a time. A busy server is asked
// again; any other failure is final and reported once. The caller has already assumed the
// assignments in the cluster.
//
// If no answer to a call arrives, the server may have bound the pod all the same, and will then
// refuse the next try; the room must not be treated as free. A failure after such a call is
// therefore reported only once the pod has been read, however long the server is away.
class Binder {
 public:
  struct Options {
    std::size_t in_flight_max = 1000;
  };
  // How a binding ended. No error: the server has accepted it.
  using OnDone = std::function<void(const Assignment& assignment, const std::optional<Error>& error,
                                    Time now)>;

  Binder(Options options, client::Calls& calls, OnDone on_done)
      : options_(options), calls_(calls), on_done_(std::move(on_done)) {}

  void submit(std::span<const Assignment> assignments, Time now);
  // The watch says that the pod has a node. If it is the node we chose, the binding has succeeded,
  // whatever a call still under way answers; success is reported when it ends.
  void confirm(std::string_view uid, std::string_view node, Time now);
  // The pod needs no binding any more: deleted or terminating. Nothing will be reported about it.
  void cancel(std::string_view uid);
  // Bindings to this node that are not under way have failed.
  void node_vanished(std::string_view node, Time now);
  // Drops the bindings to this node that are not sent yet.
  void drop_unsent(std::string_view node, const Error& why, Time now);
  // Sends what is due.
  void run(Time now);

  std::optional<Time> next_deadline() const;
  // No point in deciding more: the server is behind.
  bool full() const { return waiting_.size() + in_flight_ >= options_.in_flight_max; }
  std::size_t pending() const { return bindings_.size(); }

 private:
  using Id = std::uint64_t;
  struct Binding {
    Assignment assignment;
    int tries = 0;
    bool in_flight = false;
    bool confirmed = false;
    bool may_be_bound = false;       // a try was not answered
    std::optional<Error> suspected;  // final, unless the pod is on the node after all
    int looks = 0;
    std::optional<Time> retry_at;
  };

  void send(Id id, Binding& binding);
  void finish(Id id, const client::Outcome& outcome, Time now);
  void on_failure(Id id, Binding& binding, const Error& error, Time now);
  void look(Id id, Binding& binding);
  void on_look(Id id, Binding& binding, const client::Outcome& outcome, Time now);
  void try_again(Id id, Binding& binding, Time at);
  template <typename Which>
  void end_waiting(std::string_view node, const Which& which, const Error& why, Time now);
  void end(Id id, const std::optional<Error>& error, Time now);
  void erase(Id id);

  const Options options_;
  client::Calls& calls_;
  const OnDone on_done_;
  Id last_id_ = 0;
  std::size_t in_flight_ = 0;

  boost::unordered_flat_map<Id, Binding> bindings_;    // never iterated
  boost::unordered_flat_map<std::string, Id> by_uid_;  // never iterated
  std::set<std::pair<std::string, Id>> by_node_;       // node, id
  std::deque<Id> waiting_;  // not sent yet, in order; may name ended ones
  std::set<std::pair<Time, Id>> retries_;
};

}  // namespace muster::scheduler
