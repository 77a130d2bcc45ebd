#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/framework/preemption_plan.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/preemption/cost.h"
#include "scheduler/preemption/running_table.h"
#include "scheduler/preemption/unit_home.h"

namespace muster::scheduler {

// The pods that a preemptor of some priority may evict: every pod of lower priority that holds a
// node, by unit. The priority of a pod is that of the root of its tree, and its unit the highest
// group above it that is disrupted as a whole; pods without one stand for themselves.
//
// Pods already ending are nobody's victims: their room is counted on, unless they take too long.
class UnitTable {
 public:
  struct Pod {
    NodeId node{};
    std::uint32_t position = 0;  // in Cluster::pods_at
    const PodClass* pods = nullptr;
    std::uint32_t unit = 0;
  };
  // A search makes tens of thousands of them: they are small, and nothing in them is looked up
  // before somebody asks.
  struct Unit {
    std::int32_t priority = 0;
    std::uint32_t group = 0;  // number of the group that is evicted as a whole, from 1; 0: one pod
    bool is_member = false;   // of some group
    std::uint32_t first = 0;  // its pods, in pods()
    std::uint32_t count = 0;
  };
  struct Options {
    std::int32_t priority = 0;  // of the preemptor
    Time now;
    Duration patience{};
  };

  UnitTable(ClusterModel& model, const Options& options);

  std::span<const Unit> units() const { return units_; }
  // The group that is evicted as a whole; null: one pod.
  const GroupKey* group_of(std::uint32_t unit) const {
    return units_[unit].group == 0 ? nullptr : &groups_[units_[unit].group - 1];
  }
  // When its first pod started; pods that have not started count from now.
  Time start(std::uint32_t unit) const;
  std::span<const Pod> pods() const { return pods_; }
  std::span<const Pod> pods_of(std::uint32_t unit) const {
    return std::span(pods_).subspan(units_[unit].first, units_[unit].count);
  }
  // Numbers of pods on a node: victims, and those already ending.
  std::span<const std::uint32_t> on(NodeId node) const;
  std::span<const Pod> leaving() const { return leaving_; }
  std::span<const Pod> leaving_on(NodeId node) const;
  bool empty() const { return units_.empty() && leaving_.empty(); }

  const api::ObjectPtr& object(const Pod& pod) const {
    return model_.cluster().pods_at(pod.node)[pod.position];
  }
  // The more important is evicted later and kept first: by priority, by whether it is a group, and
  // how large; by age; then by name, so that the order is total.
  bool is_more_important(std::uint32_t a, std::uint32_t b) const;
  // The same with a pod of any group before a lone pod, as upstream has it (L25).
  bool is_more_important_upstream(std::uint32_t a, std::uint32_t b) const;

  // Adds what evicting the unit costs, without violations.
  void add_cost(std::uint32_t unit, Cost& to) const;

 private:
  void collect(const RunningTable& table, std::span<const UnitHome> homes);
  std::uint32_t unit_of(const RunningTable::Slot& slot, const UnitHome& home);
  int rank_of(std::uint32_t unit) const;
  Duration lost_by(std::uint32_t unit) const;
  void list_by_unit();
  void list_by_row();

  ClusterModel& model_;
  const Options options_;
  std::vector<Unit> units_;
  std::vector<GroupKey> groups_;  // that are evicted as a whole
  std::map<GroupKey, std::uint32_t> unit_of_group_;
  std::vector<Pod> pods_;                           // by unit
  std::vector<Pod> leaving_;                        // by row
  mutable std::vector<Time> starts_;                // by unit; kUnknown: not asked for yet
  mutable std::map<std::uint32_t, Duration> lost_;  // of groups that were asked for
  std::vector<std::uint32_t> by_row_;
  std::vector<std::uint32_t> first_in_row_;      // by row: index into by_row_; one more at the end
  std::vector<std::uint32_t> first_leaving_in_;  // the same into leaving_
};

}  // namespace muster::scheduler
