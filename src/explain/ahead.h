#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "explain/naming.h"
#include "explain/objects.h"
#include "explain/target.h"

namespace muster::explain {

// A lone pod or a whole tree that waits.
struct Waiting {
  std::int32_t priority = 0;
  Time since;
  std::string key;   // breaks ties
  std::string name;  // to be shown
  std::optional<scheduler::GroupKey> root;
  api::ObjectPtr pod;
};

// Who comes before the target in the queue: higher priority first, then those that wait longer. The
// queue's own times are not known from outside, so age is used instead. No more than kAheadMax are
// kept; `left_out` says how many are not.
inline constexpr std::size_t kAheadMax = 200;
struct Before {
  std::vector<Waiting> first;
  std::size_t left_out = 0;
};
Before those_before(const scheduler::ClusterModel& model, const Target& target,
                    const Naming& naming);

// Who found room, and where.
struct Queue {
  struct Seat {
    api::ObjectPtr pod;
    std::string node;
  };
  std::vector<std::string> names;
  std::vector<Seat> seats;
};

// Places them one after the other, each assumed before the next is tried, as the scheduler would.
// They stay assumed; unplace undoes it.
Queue place_first(scheduler::ClusterModel& model, const std::vector<Waiting>& waiting,
                  Budget& budget);
// Assumes the same places once more.
void place_again(scheduler::ClusterModel& model, const Queue& queue);
void unplace(scheduler::ClusterModel& model, const Queue& queue);

}  // namespace muster::explain
