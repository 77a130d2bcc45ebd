#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "scheduler/framework/entity.h"

namespace muster::scheduler {

// Pods that are evicted together: those of the highest group above them that is disrupted as a
// whole, or one pod.
struct VictimUnit {
  struct Pod {
    api::ObjectPtr pod;
    std::string node;
    std::string exceeds;  // the disruption budget that its eviction violates; empty: none
  };
  std::optional<GroupKey> group;  // none: the pod alone
  std::int32_t priority = 0;      // of the root
  std::vector<Pod> pods;
};

// What to do for a pod or tree that has no place: what to evict, and where to wait for it to go.
// A value: nothing has happened yet.
struct PreemptionPlan {
  enum class Answer : std::uint8_t {
    NotEligible,  // it must not preempt
    NoVictims,    // nobody of lower priority is in its way
    NotHelpful,   // it would not fit without them either
    Unresolved,   // the search stopped at its budget
    Waits,        // those in its way are ending already
    Preempts,
  };
  struct Place {
    api::ObjectPtr pod;
    std::string node;
  };

  Answer answer = Answer::NotEligible;
  std::string message;                  // upstream's words, with their prefix
  std::vector<Place> nominated;         // where it waits
  std::vector<VictimUnit> victims;      // what to evict, the most important first
  std::vector<api::ObjectPtr> leaving;  // already ending; their room is counted on
  std::int64_t victims_at_least = 0;    // pods: proven, whatever is chosen
  std::uint64_t steps = 0;

  bool found() const { return answer == Answer::Waits || answer == Answer::Preempts; }
  std::int64_t victim_pods() const {
    std::int64_t pods = 0;
    for (const VictimUnit& unit : victims) pods += static_cast<std::int64_t>(unit.pods.size());
    return pods;
  }
};

}  // namespace muster::scheduler
