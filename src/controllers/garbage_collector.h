#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/component.h"
#include "client/kit/work_queue.h"
#include "controllers/calls.h"

namespace muster::controllers {

// Deletes what has lost all its owners, and lets owners go that wait for their dependents
// (controllers.md 4.2). Objects are known by uid: a later object of the same name is another.
//
//   owner is gone               every owner of a dependent absent: delete it (background)
//   owner has foregroundDeletion  dependents are deleted; the last that blocks it sets it free
//   owner has orphan            dependents lose their reference; the last one sets it free
//
// Feeds of different kinds are not in order with each other, so an owner that has not been told of
// may still exist: before anything is deleted for the lack of it, the API is asked.
class GarbageCollector {
 public:
  explicit GarbageCollector(client::Send send);

  // Every kind that is stored, but events: nothing owns them and they own nothing.
  static std::vector<const api::Kind*> watched_kinds();

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit);
  std::optional<Time> next_deadline() const;

 private:
  struct Node {
    api::ObjectPtr object;
    std::set<std::string> dependents;  // uids
    bool asked = false;                // a call about it is under way
    Duration backoff{};
  };
  // What is known of an owner reference.
  enum class Owner : std::uint8_t { Solid, Waiting, Absent, Unknown };
  struct Call {
    std::string uid;         // of the node it is about
    std::string owner = {};  // the owner whose existence was asked for; else empty
  };

  void see(const client::Event& event);
  void forget(const api::Object& object);
  void link(const api::Object& object);
  void unlink(const api::Object& object);
  void take_in_outcome(const client::Called& called, Time now);
  void take_in_owner(const Call& call, const client::Outcome& outcome, Time now);

  Owner judge(const api::Object& dependent, const api::OwnerReference& reference) const;
  void decide(const std::string& uid);
  void decide_foreground(Node& node);
  void decide_orphans(Node& node);
  void decide_dependent(Node& node);
  void ask_for_owner(Node& node, const api::OwnerReference& reference);
  bool is_cycle(const Node& node) const;
  void call(Node& node, api::Request request, Call what);
  void retry_later(const std::string& uid, Time now);

  Calls<Call> calls_;
  bool started_ = false;
  boost::unordered_flat_map<std::string, Node> nodes_;  // by uid; only looked up, never iterated
  // Dependents whose owner has not been told of, by the owner's uid.
  std::map<std::string, std::set<std::string>> waiting_for_;
  std::set<std::string> absent_;  // owners that are known to be gone; those somebody names
  client::WorkQueue work_;
};

}  // namespace muster::controllers
