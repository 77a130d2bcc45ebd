#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/queue/scheduling_queue.h"

// What the queue keeps of pods and entities. For the files of the queue only.
namespace muster::scheduler {

// Resting entities that one answer is good for.
struct SchedulingQueue::Bed {
  BedKey key;
  api::ObjectPtr example;                // any pod that lay here
  std::set<Entity*, BackoffOrder> lone;  // the first one has its backoff behind it first
  std::set<Entity*, Arrival> groups;
  Entity* released = nullptr;  // woken from `lone` on behalf of all; not yet tried
};

struct SchedulingQueue::Entity {
  std::uint64_t sequence = 0;
  std::optional<GroupKey> root;  // none: a lone pod
  Pod* pod = nullptr;            // the lone pod

  std::int32_t priority = 0;
  Time timestamp;  // when it entered the queue, last
  Failures failures;
  Time expires = Time::min();  // of the backoff
  Place place = Place::Nowhere;

  Time rest_since;
  std::vector<Bed*> beds;        // while resting
  Bed* released_from = nullptr;  // while it is that bed's `released`

  std::size_t flight_start = 0;     // first entry of the flight log that came after the pop
  std::vector<std::string> popped;  // uids, in flight
  bool stirred = false;             // the tree changed in flight
  bool constrained = false;         // some group of the tree has a topology key
};

struct SchedulingQueue::Pod {
  std::string uid;  // pods_ is keyed by a view of it
  std::uint64_t sequence = 0;
  QueuePod facts;
  State state = State::Waiting;
  std::int32_t attempts = 0;
  Time queued_at;
  const PluginSet* refused_by = nullptr;  // in its last attempt; null: nobody, or not tried yet
  std::unique_ptr<Entity> lone;           // null for members

  bool is_member() const { return facts.group.has_value(); }
};

}  // namespace muster::scheduler
