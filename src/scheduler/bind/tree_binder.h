#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/request.h"
#include "api/views/condition.h"
#include "client/kit/calls.h"
#include "scheduler/framework/plan.h"

namespace muster::scheduler {

// The condition of a group once its tree is bound.
struct GroupStatement {
  GroupKey key;
  api::ObjectPtr group;
  api::Condition condition;
};

// What an attempt wants to do about one tree, all of it or nothing.
struct TreeBinding {
  GroupKey root;
  api::ObjectPtr object;  // of the root
  std::vector<Assignment> assignments;
  std::vector<GroupStatement> statements;
};

// POST groupbindings, for servers that have them (docs/group-binding.md).
api::Request tree_binding_request(const TreeBinding& tree);

// Binds whole trees, one call each: the server accepts all of it or nothing. A busy server is asked
// again, which is safe since pods that are bound already count as done. The caller has assumed the
// pods of a tree in the cluster.
//
// A later part of the same tree was decided on the assumption that the earlier part holds, so it
// waits for the earlier part and fails with it.
class TreeBinder {
 public:
  struct Options {
    std::size_t pods_in_flight_max = 40'000;  // several of the largest trees
  };
  // How it ended. No error: the server has accepted it. `tree` holds what the caller must report;
  // after an error also what waited behind it.
  using OnDone =
      std::function<void(const TreeBinding& tree, const std::optional<Error>& error, Time now)>;

  TreeBinder(Options options, client::Calls& calls, OnDone on_done)
      : options_(options), calls_(calls), on_done_(std::move(on_done)) {}

  void submit(TreeBinding tree, Time now);
  // The watch says that the pod has a node. If it is the node we chose, the call has succeeded,
  // whatever it answers.
  void confirm(std::string_view uid, std::string_view node, Time now);
  // The pod needs no node any more: deleted or terminating. Its tree cannot be bound as planned.
  void cancel(std::string_view uid, Time now);
  // Trees that need this node and are not under way have failed.
  void node_vanished(std::string_view node, Time now);
  // Drops the trees that need this node and are not sent yet.
  void drop_unsent(std::string_view node, const Error& why, Time now);
  // Sends what is due.
  void run(Time now);

  std::optional<Time> next_deadline() const;
  // Whether something of this root has not been accepted yet.
  bool contains(const GroupKey& root) const { return by_root_.contains(root); }
  bool full() const { return pods_.size() >= options_.pods_in_flight_max; }
  // Pods that the server has not accepted yet.
  std::size_t pending() const { return pods_.size(); }

 private:
  using Id = std::uint64_t;
  enum class State : std::uint8_t { Open, Confirmed, Withdrawn };
  struct Call {
    TreeBinding tree;
    std::vector<State> states;  // of its assignments
    std::size_t open = 0;
    std::size_t confirmed = 0;
    int tries = 0;
    bool in_flight = false;
    std::optional<Error> failure;  // known to fail: something it needs is gone
    std::optional<Time> retry_at;
  };

  void send(Id id, Call& call);
  void finish(Id id, const client::Outcome& outcome, Time now);
  void mark_failed(Id id, Error error, Time now);
  void end(Id id, const std::optional<Error>& error, Time now);
  Call extract(Id id);
  // The pods of an ended call that are in one of two states; they move out of it.
  static std::vector<Assignment> pick(Call& call, State state, std::optional<State> or_else);
  // An open pod of a call that has not ended; nullopt if there is none.
  struct Place {
    Id id = 0;
    std::size_t index = 0;
  };
  std::optional<Place> find_open(std::string_view uid) const;
  void set_state(const Place& place, State state);

  const Options options_;
  client::Calls& calls_;
  const OnDone on_done_;
  Id last_id_ = 0;

  boost::unordered_flat_map<Id, Call> trees_;           // never iterated
  boost::unordered_flat_map<std::string, Place> pods_;  // by uid; never iterated
  std::map<GroupKey, std::deque<Id>> by_root_;          // in order; the first may be sent
  std::set<std::pair<std::string, Id>> by_node_;        // node, id
  std::deque<Id> waiting_;                              // to be sent, in order; may name ended ones
  std::set<std::pair<Time, Id>> retries_;
  std::size_t pods_in_flight_ = 0;
};

}  // namespace muster::scheduler
