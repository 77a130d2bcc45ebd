#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/kit/calls.h"
#include "scheduler/bind/binder.h"
#include "scheduler/bind/preparer.h"
#include "scheduler/bind/tree_binder.h"
#include "scheduler/crowded_nodes.h"
#include "scheduler/framework/plan.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/half_bound.h"
#include "scheduler/preemptions.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/report.h"
#include "scheduler/scheduler_metrics.h"
#include "scheduler/scheduler_options.h"

namespace muster::scheduler {

// Carries plans out: assumes what was placed, has it bound, and takes back what the server refuses.
//
//   plan ──carry_out──▶ reserved, assumed ──▶ Preparer ──▶ Binder or TreeBinder ──▶ API
//                            ▲                    │               │ accepted: event, the watch
//                            confirms └─ forgotten, requeued ◀─────────────┘ refused
class Commit {
 public:
  Commit(const SchedulerOptions& options, ClusterModel& model, SchedulingQueue& queue,
         Report& report, client::Calls& calls, SchedulerMetrics& metrics);

  // Commits what was placed, sends back what was not, and reports both.
  void carry_out(const SchedulingQueue::Popped& entity, const Plan& plan, Time now);
  // Says why a gang cannot be bound if it lacks more pods than one GroupBinding takes; no search is
  // needed to know that.
  std::optional<std::string> beyond_one_binding(const GroupKey& root) const;
  Preemptions& preemptions() { return preemptions_; }
  HalfBound& half_bound() { return half_bound_; }
  // The first listing is complete.
  void synced(Time now);

  // --- from the watch ---
  // A pod with a node was added or changed.
  void pod_seen(const api::ObjectPtr& pod, Time now);
  void confirm(std::string_view uid, std::string_view node, Time now);
  // The pod needs no node any more.
  void cancel(std::string_view uid, Time now);
  // Somebody else bound the pod to the node.
  void bound_by_others(const api::Object& pod, std::string_view node, Time now);
  void node_vanished(std::string_view node, Time now);
  // The node's capacity changed; a pod has left it.
  void node_changed(std::string_view node, Time now) { crowded_.changed(node, now); }
  void left_node(std::string_view node, Time now) { crowded_.left(node, now); }
  void volume_changed(const api::Object& object, Time now) {
    preparer_.object_changed(object, now);
  }
  void group_vanished(const GroupKey& key) {
    refused_trees_.erase(key);
    preemptions_.group_vanished(key);
  }

  // Goes on with trees that were accepted, a slice of their pods.
  void go_on_accepting();
  bool is_accepting() const { return !accepted_.empty(); }
  // Sends what is due.
  void run(Time now);
  std::optional<Time> next_deadline() const;
  // No point in deciding more: the server is behind.
  bool full() const { return binder_.full() || trees_.full(); }
  // Pods that are assumed, but not yet accepted by the server.
  std::size_t pending() const { return binder_.pending() + trees_.pending() + preparer_.pending(); }
  // Bindings that the server accepted.
  std::uint64_t scheduled() const { return scheduled_; }

 private:
  // commit_preparation.cc: before the binding
  std::optional<Plan> reserve(const Plan& plan);
  void unreserve(std::string_view uid);
  bool is_prepared_first(const Plan& plan) const;
  struct Binding {
    bool together = false;  // by one GroupBinding
    bool ordered = false;   // after what was decided earlier for the tree
  };
  void prepare(const Plan& plan, Binding binding, Time now);
  void bind_prepared(PreparedBatch batch, Time now);
  void preparation_failed(const PreparedBatch& batch, const Preparer::Failure& failure, Time now);

  // commit.cc
  std::optional<Plan> cut_to_one_binding(const Group& tree, const Plan& plan, Time now);
  bool goes_together(const Plan& plan, bool is_loose) const;
  void bind_plan(const SchedulingQueue::Popped& entity, const Plan& plan, bool is_loose, Time now);
  TreeBinding tree_of(const Plan& plan);
  void bound(const Assignment& assignment, Time now);
  void accepted(const Assignment& assignment, bool has_event, Time now);
  void bind_failed(const Assignment& assignment, const Error& error, Time now);
  void tree_bound(const TreeBinding& tree, Time now);
  void tree_refused(const TreeBinding& tree, const Error& error, Time now);
  void bind_one_by_one(const TreeBinding& tree, const Error& error, Time now);
  void report_refused_tree(const TreeBinding& tree, const Error& error, Time now);

  ClusterModel& model_;
  SchedulingQueue& queue_;
  Report& report_;
  std::map<std::string, api::ObjectPtr, std::less<>> reserved_;  // pods for which something is held
  Preparer preparer_;
  SchedulerMetrics& metrics_;
  Binder binder_;
  TreeBinder trees_;
  Preemptions preemptions_;
  HalfBound half_bound_;
  CrowdedNodes crowded_;
  Counter foreign_, foreign_served_;  // bindings by others, and those of pods that asked for us
  bool is_synced_ = false;
  bool offers_group_bindings_;             // the server, as far as we know
  std::map<GroupKey, int> refused_trees_;  // by root: how often in a row
  std::uint64_t scheduled_ = 0;

  // Pods of large trees that the server has accepted, and how far we are with what follows from it.
  struct Accepted {
    std::vector<Assignment> assignments;
    std::size_t done = 0;
    Time at;
  };
  std::deque<Accepted> accepted_;
};

// The pod as if its spec named the node. Hints accept only such pods, and an assumed pod that loses
// its node is not one.
api::ObjectPtr pod_on(const api::ObjectPtr& pod, std::string_view node);

// The plan that places nothing of the tree, for this reason.
Plan refused_whole(const Group& tree, const std::string& message);

// The event that a pod left its node.
ClusterEvent room_made(const api::ObjectPtr& pod);

}  // namespace muster::scheduler
