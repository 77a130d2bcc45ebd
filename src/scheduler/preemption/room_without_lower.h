#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/framework/standing.h"
#include "scheduler/placement/bounds.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/workspace.h"
#include "scheduler/preemption/lower_columns.h"

namespace muster::scheduler {

// How many pods of a class each node would take at most if every pod of a lower priority left: by
// the filters that no pod can change, and by room, counted on the cluster's columns without what
// lower pods hold. Filters that mind other pods are not asked, so it is an upper bound: where it is
// 0, no eviction helps.
class RoomWithoutLower {
 public:
  RoomWithoutLower(ClusterModel& model, std::int32_t priority);

  // Whether there is anybody to evict.
  bool has_victims() const { return level_.evictable > 0; }
  CapColumn caps(const Standing& standing) const;

 private:
  const Cluster& cluster_;
  const LowerColumns::Level& level_;
};

// Whether a tree may find a place if every pod of a lower priority left. False is a proof.
class TreeWithoutLower {
 public:
  TreeWithoutLower(const GroupTree& tree, Workspace& workspace, const RoomWithoutLower& room);

  bool may_be_placed();
  // Whether the group may have its minimum in the domain.
  bool may_meet_in(std::uint32_t item, const Domain& domain);

 private:
  bool may_meet(std::uint32_t item, const Domain& within);

  const GroupTree& tree_;
  const Topology& topology_;
  Budget looking_;
  Bounds bounds_;
  std::vector<std::vector<std::int64_t>> cells_;  // [class][cell]
};

}  // namespace muster::scheduler
