#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/framework/entity.h"
#include "scheduler/queue/backoff.h"

// What the queue keeps of pods and entities. For the files of the queue only.
namespace muster::scheduler {

struct QueuedPod;
struct WaitClass;

// A pod that is popped, judged with its tree, refused, reported and queued again takes about as
// long as so many steps of the search.
inline constexpr std::uint64_t kStepsPerPod = 4;

// Names of plugins, sorted, each once. Interned by RestingSet: equal sets are one object.
using PluginSet = std::vector<std::string>;

// A pod without a node, as the queue needs to know it.
struct QueuePod {
  api::ObjectPtr pod;
  std::int32_t priority = 0;
  std::optional<GroupKey> group;  // its PodGroup
  bool gated = false;
  // Equal hashes: no plugin can tell the pods apart. 0: like no other.
  std::uint64_t class_hash = 0;
};

// Where an entity is.
enum class Place : std::uint8_t {
  Nowhere,
  Gated,
  Active,
  Backoff,
  ErrorBackoff,  // only time ends it: after an error, or until its turn
  Resting,
  InFlight,
};

// What is queued, tried and sent back as one: a lone pod, a member of a loose tree, or the root of
// any other tree with its waiting pods.
struct QueueEntity {
  std::uint64_t sequence = 0;    // of arrival
  std::optional<GroupKey> root;  // none: a single pod
  QueuedPod* pod = nullptr;      // the single pod

  std::int32_t priority = 0;
  Time timestamp;  // when it entered the queue, last
  Failures failures;
  Time expires = Time::min();           // of the backoff
  std::optional<Time> held_until = {};  // its victims are going: not tried earlier
  Place place = Place::Nowhere;

  Time rest_since;
  std::optional<Time> retry_at = {};   // while it rests: not later than this
  bool retries_by_age = false;         // then one of its peers will do
  std::vector<WaitClass*> classes;     // while resting
  WaitClass* released_from = nullptr;  // while it is that class's `released`

  std::size_t flight_start = 0;     // first entry of the flight log that came after the pop
  std::vector<std::string> popped;  // uids, in flight
  bool changed_in_flight = false;   // the tree changed since the pop, in a way that could help it
  bool constrained = false;         // some group of the tree has a topology key
  std::uint64_t shape = 0;          // of a tree, as it was popped last (peer_trees.h)
  std::uint64_t cost = 0;           // of the last attempt at a tree, in steps
  std::optional<Time> turn = {};    // of a tree, until it is tried: not before, if that costs much
  bool is_new = false;              // a tree that was never queued
  bool awaits_news = false;         // in ErrorBackoff, until something about the tree changes
  bool is_flushed = false;          // tried because it, or one before it, rested for long

  // Of a tree: whether it is loose, as far as its pods in the queue know.
  bool is_loose = false;
  std::uint64_t composite_changes = 0;  // of the forest, when that was looked at
};

struct QueuedPod {
  enum class State : std::uint8_t {
    Waiting,
    Gated,
    InFlight,
    Committing,  // placed by us; the API has not confirmed it
  };

  std::string uid;  // the queue's map is keyed by a view of it
  std::uint64_t sequence = 0;
  QueuePod facts;
  State state = State::Waiting;
  std::int32_t attempts = 0;
  Time queued_at;
  const PluginSet* refused_by = nullptr;  // in its last attempt; null: nobody, or not tried yet
  // If it is queued by itself: a lone pod, or a member of a leaf that is loose.
  std::unique_ptr<QueueEntity> lone;
  std::uint64_t domain_of = 0;  // of such a member: the tree whose domain it must be in, if any

  bool is_member() const { return facts.group.has_value(); }
  bool is_pending() const { return state != State::Committing; }
};

// Entities in the order they are tried: priority, then time, then arrival.
struct QueueOrder {
  bool operator()(const QueueEntity* a, const QueueEntity* b) const {
    if (a->priority != b->priority) return a->priority > b->priority;
    return std::tie(a->timestamp, a->sequence) < std::tie(b->timestamp, b->sequence);
  }
};
// Whose backoff ends first.
struct BackoffOrder {
  bool operator()(const QueueEntity* a, const QueueEntity* b) const {
    if (a->expires != b->expires) return a->expires < b->expires;
    return QueueOrder{}(a, b);
  }
};
struct HoldOrder {
  using Hold = std::pair<Time, QueueEntity*>;
  bool operator()(const Hold& a, const Hold& b) const {
    return std::tie(a.first, a.second->sequence) < std::tie(b.first, b.second->sequence);
  }
};
struct RestOrder {
  bool operator()(const QueueEntity* a, const QueueEntity* b) const {
    return std::tie(a->rest_since, a->sequence) < std::tie(b->rest_since, b->sequence);
  }
};
struct Arrival {
  template <typename T>
  bool operator()(const T* a, const T* b) const {
    return a->sequence < b->sequence;
  }
};

}  // namespace muster::scheduler
