#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "scheduler/framework/cluster_event.h"

namespace muster::scheduler {

// Who waits where, for metrics: pods, and the entities they are queued as.
struct QueueCensus {
  struct Row {
    std::size_t pods = 0;
    std::size_t lone = 0;    // entities that are one pod
    std::size_t groups = 0;  // entities that are a tree
  };
  Row active, backoff, unschedulable, gated;
  std::size_t in_flight = 0;   // members that wait while their tree is being tried
  std::size_t incomplete = 0;  // members without a root
  // Entities that rest, by a plugin that refused them and the scheduler name they ask for.
  std::map<std::pair<std::string, std::string>, std::size_t> refused;
  // Events kept because they might help what is being tried.
  std::map<std::pair<Resource, Action>, std::size_t> events;
  std::size_t looked_at = 0;  // what it took: wait classes and leaves
};

}  // namespace muster::scheduler
