#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "scheduler/groups/workload_forest.h"

namespace muster::scheduler {

// Leaves whose pods wait while a group above them is missing: nobody else would ever mention them.
// Each is reported once, after some patience, since objects of one tree come in any order; and
// again when what was missing has come and something else is.
class StrandedLeaves {
 public:
  StrandedLeaves(const WorkloadForest& forest, Duration patience)
      : forest_(forest), patience_(patience) {}

  // The leaf gained or lost pending pods, or the groups above it changed.
  void update(const GroupKey& leaf, bool has_pending, Time now);

  struct Report {
    GroupKey leaf;
    std::string why;
  };
  // What is due to be reported and has not been yet; if it is very much, the rest the next time.
  std::vector<Report> drain(Time now);
  // When the next one is to be reported.
  std::optional<Time> next_deadline() const;

  bool contains(const GroupKey& leaf) const { return leaves_.contains(leaf); }
  template <typename Call>
  void for_each(Call&& call) const {
    for (const auto& [leaf, missing] : leaves_) call(leaf);
  }

 private:
  struct Missing {
    Time since;
    std::string reported;  // what was reported missing; empty: nothing yet
  };

  const WorkloadForest& forest_;
  const Duration patience_;
  void forget_due(const GroupKey& leaf, const Missing& missing);

  std::map<GroupKey, Missing> leaves_;
  std::set<std::pair<Time, GroupKey>> due_;  // not reported yet, by when that is due
};

}  // namespace muster::scheduler
