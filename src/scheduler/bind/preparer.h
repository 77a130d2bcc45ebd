#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/request.h"
#include "client/kit/calls.h"
#include "scheduler/bind/tree_binder.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/framework/profile.h"

namespace muster::scheduler {

// Assignments that are bound once everything they need is ready: a lone pod, or what an attempt
// decided for a tree.
struct PreparedBatch {
  std::vector<Assignment> assignments;
  std::optional<TreeBinding> tree = {};  // without assignments of its own
  bool together = false;                 // all of the tree or nothing
  // Comes after what was decided earlier for the tree, and falls with it: pods of a tree that need
  // each other.
  bool ordered = false;
};

// Carries pods from their decision to their binding where that takes a while: asks Permit plugins,
// makes the writes of PreBind plugins, and waits until what they wait for has come true. Nothing of
// a batch is bound before all of it is ready, and what was decided later for the same tree waits
// for the earlier part and falls with it. The caller has assumed its pods.
//
//   add ──▶ permitted ──▶ writes ──▶ waits ──▶ on_ready
//              │             │         │
//              └─────────────┴─────────┴─────▶ on_failed: a plugin, a lost pod or node, or time
class Preparer {
 public:
  struct Failure {
    std::string message;
    bool is_error = true;  // else a plugin refused the pod
    std::string plugin;
  };
  using OnReady = std::function<void(PreparedBatch batch, Time now)>;
  // `batch` holds the pods that are still there.
  using OnFailed = std::function<void(PreparedBatch batch, const Failure& failure, Time now)>;

  Preparer(const Cluster& cluster, client::Calls& calls, OnReady on_ready, OnFailed on_failed)
      : cluster_(cluster),
        calls_(calls),
        on_ready_(std::move(on_ready)),
        on_failed_(std::move(on_failed)) {}

  // Called when a Permit plugin has decided about a pod that it kept waiting. Must only
  // observe.
  using OnPermit = std::function<void(bool is_allowed, Duration waited)>;
  void observe_permits(OnPermit on_permit) { on_permit_ = std::move(on_permit); }

  using ProfileOf = std::function<const Profile&(const api::Object& pod)>;
  // Whether there is something to wait for: a plugin of the pods' profiles asks for it, or an
  // earlier part of the tree is waiting.
  bool concerns(std::span<const Assignment> assignments, const GroupKey* root,
                const ProfileOf& profile_of) const;
  void add(PreparedBatch batch, const ProfileOf& profile_of, Time now);

  // --- from the watch ---
  void object_changed(const api::Object& object, Time now);
  // The pod has a node. Ours: as good as ready. Another: the decision is void.
  void confirm(std::string_view uid, std::string_view node, Time now);
  void cancel(std::string_view uid, Time now);
  void node_vanished(std::string_view node, Time now);
  // Drops what was decided for this node.
  void drop(std::string_view node, const std::string& why, Time now);

  void run(Time now);
  std::optional<Time> next_deadline() const;
  // Pods that are not ready yet.
  std::size_t pending() const { return by_uid_.size(); }

 private:
  using Id = std::uint64_t;
  // What one plugin does for one pod.
  struct Step {
    Id batch = 0;
    std::string plugin;
    const Permit* permit =
        nullptr;  // of the profile, which outlives the step; null: prepared below
    std::size_t assignment = 0;
    std::unique_ptr<Preparation> preparation;
    std::vector<std::string> waits_on;
    std::size_t writes_open = 0;
    int tries = 0;  // of the write that failed most often
    Time deadline;
    std::optional<Time> waits_since = {};  // for the permit
    bool is_done = false;
  };
  struct Batch {
    PreparedBatch content;
    std::vector<bool> is_gone;  // by assignment: the pod needs no node any more
    std::vector<Id> permits;
    std::vector<Id> steps;
    std::size_t permits_open = 0;
    std::size_t steps_open = 0;
    bool are_steps_started = false;
  };

  void collect_steps(Id id, Batch& batch, const ProfileOf& profile_of, Time now);
  void start_steps(Id id, Time now);
  void send(Id step, std::size_t index, api::Request request);
  void ask(Id step, Time now);
  void finish_step(Id step, Time now);
  void note_permit(const Step& step, bool is_allowed, Time now) const;
  void advance(Id batch, Time now);
  void fail(Id batch, const Failure& failure, Time now);
  PreparedBatch extract(Id batch);
  void drop_step(Id step);
  std::string failure_text(const Step& step, const std::string& why) const;

  const Cluster& cluster_;
  client::Calls& calls_;
  const OnReady on_ready_;
  const OnFailed on_failed_;
  OnPermit on_permit_;  // may be empty
  Id last_id_ = 0;

  std::map<Id, Batch> batches_;
  std::map<Id, Step> steps_;
  boost::unordered_flat_map<std::string, std::pair<Id, std::size_t>> by_uid_;  // batch, assignment
  std::set<std::pair<std::string, Id>> by_node_;                               // node, batch
  std::map<GroupKey, std::deque<Id>> by_root_;     // in the order they were decided
  std::set<std::pair<std::string, Id>> watchers_;  // object, step
  std::set<std::pair<Time, Id>> deadlines_;        // of steps
  struct Retry {
    Id step;
    std::size_t index;
  };
  std::multimap<Time, Retry> retries_;
};

}  // namespace muster::scheduler
