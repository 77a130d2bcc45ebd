#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "client/kit/calls.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/plan.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/preemption/evictor.h"
#include "scheduler/preemption/object_writes.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/report.h"

namespace muster::scheduler {

// Trees that are bound pod by pod, on a server without GroupBindings. A binding may be refused, or
// their sender may die: then a group has some of its pods bound, but fewer than it needs.
//
//   started ──▶ under way ──accepted──▶ whole: its groups say that they were scheduled
//                   │ refused
//                   ▼
//   synced ──▶ half bound ──▶ the others are tried again, or first of all after synced();
//                   │         reported every minute
//                   └───────▶ released after a deadline, if that is wanted:
//                             the bound pods are deleted
//
// Only groups that were never whole count: the condition of a group becomes True after its minimum
// is bound, so it tells them from groups that lost pods later, whichever process looks.
class HalfBound {
 public:
  struct Options {
    Duration release_after = Duration::zero();  // never
    Metrics* metrics = nullptr;
  };
  struct Surroundings {
    ClusterModel& model;
    SchedulingQueue& queue;
    Report& report;
    client::Calls& calls;
  };
  HalfBound(const Options& options, const Surroundings& surroundings);

  // These pods of the tree are assumed and will be bound. The conditions of placed groups are
  // written once enough of their pods are bound.
  void started(const GroupKey& root, std::span<const Assignment> assignments,
               std::span<const GroupVerdict> groups, Time now);
  // The server has bound the pod.
  void accepted(std::string_view uid, Time now) { end(uid, now); }
  void refused(const api::Object& pod, const std::string& why, Time now);
  // The pod terminates, is gone, or somebody else has bound it.
  void left(std::string_view uid, Time now);
  // The first listing is complete: finds what somebody before us left half bound.
  void synced(Time now);

  // The root of a tree that was found half bound, each once: it is tried before all others.
  std::optional<GroupKey> next_found();
  // Pods of the tree are being deleted: nobody may join them.
  bool is_released(const GroupKey& root) const;

  void run(Time now);
  std::optional<Time> next_deadline() const;

  static constexpr Duration kPatience = std::chrono::minutes{1};

 private:
  struct Batch {
    GroupKey root;
    std::size_t open = 0;  // pods that are under way
  };
  struct UnderWay {
    std::uint64_t batch;
    GroupKey leaf;
  };
  struct Tree {
    std::map<GroupKey, GroupVerdict> verdicts = {};  // of placed groups, not written yet
    std::size_t batches = 0;                         // under way
    Time since = {};
    Time due = {};               // of the next look
    std::string why = {};        // the others are not bound
    bool is_half_bound = false;  // when last looked at
    std::set<std::string> leaving = {};
  };
  // How much of a group is bound, and which groups have too little bound.
  struct Progress {
    std::size_t bound = 0;
    bool is_whole = false;
    std::vector<const GroupSpec*> short_of = {};  // the topmost ones
  };

  Tree& tree(const GroupKey& root, Time now);
  void end(std::string_view uid, Time now);
  std::size_t bound_pods(const GroupKey& leaf) const;
  Progress progress_of(const GroupKey& key, std::size_t levels = kTreeDepthMax) const;
  bool is_served(const GroupKey& key) const;
  void look(const GroupKey& root, Time now);
  void write_whole(Tree& tree, Time now);
  std::vector<GroupVerdict> whole_and_silent(const GroupKey& root) const;
  void report(const Tree& tree, const Progress& progress, Time now);
  void release(const GroupKey& root, Tree& tree, const Progress& progress, Time now);
  void set_due(const GroupKey& root, Tree& tree, Time due);
  Time next_look(const Tree& tree, Time now) const;
  void forget(const GroupKey& root);

  const Options options_;
  ClusterModel& model_;
  SchedulingQueue& queue_;
  Report& report_;
  ObjectWrites writes_;
  Evictor evictor_;
  Gauge half_bound_;
  Counter released_;

  std::map<GroupKey, Tree> trees_;           // by root: those that are not known to be whole
  std::set<std::pair<Time, GroupKey>> due_;  // of all of them
  std::deque<GroupKey> found_;               // not tried yet
  std::map<std::uint64_t, Batch> batches_;   // what was decided at once
  std::uint64_t last_batch_ = 0;
  boost::unordered_flat_map<std::string, UnderWay> under_way_;  // by uid; never iterated
  std::map<GroupKey, std::size_t> under_way_in_;                // by leaf
  boost::unordered_flat_map<std::string, GroupKey> leaving_;    // by uid; never iterated
  std::size_t half_bound_count_ = 0;
};

}  // namespace muster::scheduler
