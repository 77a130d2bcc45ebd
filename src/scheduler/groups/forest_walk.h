#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/framework/entity.h"

namespace muster::scheduler {

// Where a walk over the groups at and below one of them stands, so that it can be made in steps
// while the forest changes (WorkloadForest::next). A group that comes to a place which was passed
// already is not visited: its coming is a change of its own.
class ForestWalk {
 public:
  // Busy: groups without any pod at or below them are left out, and cost nothing.
  enum class Over : std::uint8_t { All, Busy };

  ForestWalk(GroupKey top, Over over) : top_(std::move(top)), over_(over) {}
  const GroupKey& top() const { return top_; }

 private:
  friend class WorkloadForest;

  GroupKey top_;
  Over over_;
  bool has_begun_ = false;
  std::vector<GroupKey> path_;  // from the top to the group that was visited last
};

}  // namespace muster::scheduler
