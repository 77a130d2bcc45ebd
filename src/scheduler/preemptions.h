#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/kit/calls.h"
#include "scheduler/framework/plan.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/preemption/evictor.h"
#include "scheduler/preemption/object_writes.h"
#include "scheduler/preemption/unit_evictions.h"
#include "scheduler/preemption_executions.h"
#include "scheduler/preemption_metrics.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/report.h"
#include "scheduler/reservations.h"

namespace muster::scheduler {

// The scheduler's side of preemption: looks for victims when an attempt was refused, has them
// evicted, keeps the room for the preemptor, and lets it be tried once they are gone.
//
//   refused ──consider──▶ plan with victims ──carry_out──▶ Evictor ──▶ API
//                                               │ nominated, held in the queue
//                    tried again ◀──release─────┘◀── the last victim has left, or patience ends
class Preemptions {
 public:
  // `metrics` may be null.
  Preemptions(ClusterModel& model, SchedulingQueue& queue, Report& report, client::Calls& calls,
              Metrics* metrics);

  // Adds to the plan of a refused entity what to evict for it, and what to report about that.
  void consider(const SchedulingQueue::Popped& entity, Plan& plan, Time now);
  // Does what the plan says. Call it after the queue's finish().
  void carry_out(const SchedulingQueue::Popped& entity, const Plan& plan, Time now);

  // Whether there is any pod at all that this one may evict.
  bool may_evict(const api::Object& pod);
  // The minimum of the tree is bound: pods left over may look for victims now.
  void admitted(const GroupKey& root, Time now);
  void forget_tree(const GroupKey& root) {
    leftovers_.erase(root);
    reservations_.forget(root);
  }
  void group_vanished(const GroupKey& key) {
    forget_tree(key);
    units_.forget_group(key);
  }
  // Something changed that the node table does not show: groups, disruption budgets.
  void promises_changed() {
    failed_searches_.clear();
    failed_trees_.clear();
  }
  // A pod with a node was added or changed.
  void pod_seen(const api::ObjectPtr& pod, Time now);
  // A pod no longer holds its node.
  void pod_left(std::string_view uid, Time now);
  // The first listing is complete: evictions that others began can be finished.
  void synced(Time now);
  // A group was added or changed.
  void group_seen(Time now) {
    if (!marked_.empty()) follow_up_marks(now);
  }
  // Some group of the tree is being evicted as a whole. Its waiting pods are not tried until the
  // others are known to leave, so that no pod joins a group that goes.
  bool is_evicted(const Group& tree) const;

  void run(Time now) { writes_.run(now); }
  std::optional<Time> next_deadline() const { return writes_.next_deadline(); }

 private:
  using EntityKey = SchedulingQueue::EntityKey;
  struct Preemptor {
    std::string scheduler_name;
    std::string kind;  // pod, podgroup, compositepodgroup
    std::string uid;
    std::int32_t priority = 0;
  };

  void consider_pod(const PendingPod& pod, Plan& plan, Time now);
  void consider_group(const Group& root, Plan& plan, Time now);
  Preemptor preemptor_of(const SchedulingQueue::Popped& entity) const;
  void evict(const VictimUnit& unit, const Preemptor& preemptor, const PreemptionPlan& plan,
             Time now);
  void nominate(const SchedulingQueue::Popped& entity, const Plan& plan, std::int32_t priority,
                Time now);
  void clear_lower(std::string_view node, std::int32_t priority, Time now);
  void clear_nomination(const api::ObjectPtr& pod, Time now);
  bool is_anybody_lower(std::int32_t priority);
  // preemption_waits.cc
  void wait_for(const EntityKey& entity, const PreemptionPlan& plan);
  void forget(const EntityKey& entity);
  void failed(const api::ObjectPtr& pod, const Error& error, Time now);
  void say_refused(const api::ObjectPtr& victim, const Error& error, Time now);
  // preemption_marks.cc
  void follow_up_marks(Time now);
  bool has_come_back(const GroupSpec& group) const;
  void unit_ended(const GroupKey& unit, Time now);
  void end_disruption(const GroupVerdict& verdict, Time now);

  ClusterModel& model_;
  SchedulingQueue& queue_;
  Report& report_;
  ObjectWrites writes_;
  Evictor evictor_;
  UnitEvictions units_;
  PreemptionMetrics metrics_;
  PreemptionExecutions executions_;
  Reservations reservations_;
  std::map<EntityKey, std::set<std::string>> waits_for_;                // uids of pods that must go
  std::map<std::string, std::set<EntityKey>, std::less<>> awaited_by_;  // the other way round
  // Uids of pods that were left over when their tree was first admitted, until it is bound.
  std::map<GroupKey, std::vector<std::string>> leftovers_;
  // Running pods that carry the mark of somebody else's eviction, by uid, until it is clear which
  // unit they belong to.
  std::map<std::string, api::ObjectPtr, std::less<>> marked_;
  bool is_synced_ = false;
  // Victims that the server refuses to delete, by uid, with its message: each is reported once.
  std::map<std::string, std::string, std::less<>> refused_;
  // Pods for which a search found nobody, one of each kind, kept until the node table changes:
  // thousands of equal waiting pods cost one search.
  struct FailedSearch {
    api::ObjectPtr pod;
    PreemptionPlan plan;
  };
  const PreemptionPlan* known_failure(const api::ObjectPtr& pod);
  PreemptionPlan search_for_tree(const Group& root, Time now);
  void forget_outdated_failures();
  static constexpr std::size_t kFailedSearchesMax = 64;
  std::vector<FailedSearch> failed_searches_;
  std::map<std::uint64_t, PreemptionPlan> failed_trees_;  // the same by Group::shape
  std::uint64_t failed_at_ = 0;                           // end of the row log
};

// The pods of these units.
std::set<std::string> uids_of(const std::vector<VictimUnit>& victims);

}  // namespace muster::scheduler
