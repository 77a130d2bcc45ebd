#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/groups/cluster_model.h"
#include "scheduler/preemption/running_table.h"

namespace muster::scheduler {

// Where the members of a PodGroup belong: the priority of the root above it, and the highest group
// at or above it that is disrupted as a whole.
struct UnitHome {
  bool is_known = false;  // else the pods are judged by themselves
  std::int32_t priority = 0;
  std::optional<GroupKey> unit;
};
UnitHome find_home(const ClusterModel& model, const GroupKey& leaf);
// The same for every leaf with running pods, in the order of the table.
std::vector<UnitHome> find_homes(const ClusterModel& model, const RunningTable& table);

// Whether a pod is lower than the priority, by the root of its tree if that is known.
inline bool is_lower(const RunningTable::Slot& slot, const UnitHome& home, std::int32_t priority) {
  return (home.is_known ? home.priority : slot.priority) < priority;
}

}  // namespace muster::scheduler
