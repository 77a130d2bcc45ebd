#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/kit/calls.h"
#include "client/kit/event_recorder.h"
#include "client/kit/status_writer.h"
#include "scheduler/bind/tree_binder.h"
#include "scheduler/framework/plan.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/held_trees.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/refusal_words.h"
#include "scheduler/scheduler_metrics.h"
#include "scheduler/scheduler_options.h"
#include "scheduler/tree_reports.h"

namespace muster::scheduler {

// What users see of the scheduler: events, the PodScheduled condition of pods, the condition of
// groups that says whether they were scheduled. It decides nothing and changes no other state.
class Report {
 public:
  Report(const SchedulerOptions& options, ClusterModel& model, client::Calls& calls,
         SchedulerMetrics& metrics);

  // --- from the watch ---
  // A newer version of an object has arrived: its status counts again, not what we wrote.
  void observed(std::string_view uid) { statuses_.observed(uid); }
  // The object is gone, or no longer ours to report on: what waits to be written is dropped.
  void forget(std::string_view uid);
  // The pod has a node, so it waits for nothing. Our own server removes the WaitsFor condition with
  // the binding; on others we must.
  void assigned(const api::ObjectPtr& pod);
  // The same for a group: from now on its own condition says whether it was scheduled.
  void observed_group(const GroupKey& key, const std::string& uid);
  // A pod joined a tree that is invalid.
  void joined_invalid(const api::ObjectPtr& pod) { trees_.joined_invalid(pod); }
  void deleted_in_queue(const api::ObjectPtr& pod, Time now);

  // --- attempts ---
  // Reports all of a plan, except the conditions that a GroupBinding carries.
  struct PlanOptions {
    enum class Groups : std::uint8_t { All, Refused, None };
    Groups groups = Groups::All;  // whose conditions are written now
  };
  void planned(const Plan& plan, PlanOptions options, Time now);
  // Why a pod has no node.
  void refused(const Refusal& refusal, Time now);
  // The same for pods of one tree. If there are many, say_more() reports them in slices.
  void refused(const GroupKey& root, std::span<const Refusal> refusals, Time now);
  // Goes on telling refused pods why.
  void say_more(Time now);
  bool has_more_to_say() const { return !words_.empty(); }
  // The condition a group should have; nullopt if it has it already. Once a group was scheduled its
  // condition stays True, whatever happens to pods that come later.
  std::optional<GroupStatement> statement_of(const GroupVerdict& verdict) const;
  void write(const GroupStatement& statement, Time now);
  // Writes the condition of a group: a new state at once, a new message for the same one after a
  // while.
  void write_group(const GroupVerdict& verdict, Time now);
  bool was_scheduled(const GroupSpec& group) const;

  // What the queue does with a tree. One that can no longer be tried, because pods or groups that
  // it needs are missing, is helped by no node.
  void tree_moved(const QueueEntity& tree);
  // A pod of the group waits, or the group has come to its tree with others.
  void waits_in_tree(const GroupKey& leaf, const api::Object& pod);
  void joined_tree(const GroupKey& group) { held_.says_other(group); }
  void group_gone(const GroupKey& group) { held_.forget(group); }

  // --- preemption ---
  // A pod is evicted.
  void preempted(const api::ObjectPtr& pod, std::string message, Time now);
  // A pod that should be evicted cannot be.
  void not_evicted(const api::Object& pod, std::string message, Time now);
  // Room is kept for a group that has waited for long.
  void reserved(const api::Object& group, std::string message, Time now);
  // A group is evicted as a whole: its condition says so, and so do those of all groups below it.
  void disrupted(const GroupKey& group, const std::string& message, Time now);

  // --- bindings ---
  void bound(const Assignment& assignment, bool has_event, Time now);
  void tree_bound(const TreeBinding& tree, Time now);
  void tree_refused(const TreeBinding& tree, const std::string& message, Time now);
  // A gang that was bound one by one is still below its minimum.
  void half_bound(const api::Object& group, std::string message, Time now);

  // --- nodes ---
  void overcommitted(const api::Object& node, std::string message, Time now);

  // --- by time ---
  void stranded(const SchedulingQueue::Stranded& stranded, Time now);
  // Trees that became invalid or valid again.
  void report_trees(Time now) { trees_.run(now); }
  TreeFaults::Anchors judge_trees(Time now) { return trees_.judge(now); }
  std::optional<Time> trees_deadline() const { return trees_.next_deadline(); }
  void run(Time now);
  std::optional<Time> next_deadline() const;

  std::uint64_t unschedulable() const { return unschedulable_; }
  std::uint64_t errors() const { return errors_; }

 private:
  // A condition whose numbers keep changing is written at most this often, after the first few.
  static constexpr Duration kGroupPace = std::chrono::seconds{10};
  static constexpr int kGroupBurst = 3;

  void count_refusals(std::span<const Refusal> refusals);
  Refusal as_member(const Refusal& refusal) const;
  void say_refused(const Refusal& refusal, bool has_event, Time now);
  void write_refused(const api::ObjectPtr& pod, std::string reason, std::string message,
                     WaitsFor waits, Time now);
  void write_held(Time now);
  void write_due(Time now);
  void forget_pace(const std::string& uid);
  void record_refusal(const GroupVerdict& verdict, const Plan& plan, Time now);
  void record(const api::Object& about, client::EventNote note, Time now);

  const ClusterModel& model_;
  SchedulerMetrics& metrics_;
  const std::string instance_;
  client::StatusWriter statuses_;
  client::EventRecorder recorder_;
  TreeReports trees_;
  // Uids of groups that were scheduled and whose condition the watch has not shown yet. Between the
  // answer to a binding and the watch, an attempt at pods that came later must not write False over
  // it. Never iterated.
  boost::unordered_flat_set<std::string> scheduled_unseen_;
  // What was written about a refused group, by uid, and what follows it: the newest message for the
  // same state waits until kGroupPace is over.
  struct Pace {
    std::string reason;
    Time due;  // when it may be written again
    std::optional<GroupVerdict> next;
  };
  boost::unordered_flat_map<std::string, Pace> paces_;  // never iterated
  std::set<std::pair<Time, std::string>> due_;          // of those with a `next`
  HeldTrees held_;
  RefusalWords words_;
  std::uint64_t unschedulable_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace muster::scheduler
