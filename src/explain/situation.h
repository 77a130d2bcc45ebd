#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/framework/plan.h"
#include "scheduler/framework/profile.h"
#include "scheduler/groups/tree_faults.h"
#include "scheduler/groups/workload_forest.h"

namespace muster::explain {

// What a cluster consists of, as far as placing pods goes: the lists a user may read.
struct Objects {
  std::vector<api::ObjectPtr> nodes;
  std::vector<api::ObjectPtr> pods;
  std::vector<api::ObjectPtr> groups;  // PodGroups and CompositePodGroups
  std::vector<api::ObjectPtr> workloads = {};
  std::string workloads_unread = {};  // why there are no Workloads, if they could not be listed
  Time read_at = {};
};

// One object that would be different: added (no `before`), changed, or gone (no `after`).
struct Edit {
  api::ObjectPtr before;
  api::ObjectPtr after;
};
using Edits = std::vector<Edit>;

// The members of a PodGroup by the part they play.
struct Members {
  std::vector<api::ObjectPtr> waiting;  // in the order an attempt takes them
  std::vector<api::ObjectPtr> gated;
  std::vector<api::ObjectPtr> running;  // hold a node and are not on their way out
  std::vector<api::ObjectPtr> succeeded;
  std::vector<api::ObjectPtr> lost;  // failed or terminating: they count for nothing

  std::size_t present() const { return running.size() + succeeded.size(); }
};

// A cluster as the scheduler would see it if it had just been told these objects, and the very
// attempts it would make (design D8: explanations must not drift from decisions). Nothing outside
// is touched.
class Situation {
 public:
  Situation(const Objects& objects, scheduler::Profile profile);

  // Changes objects, or takes the change back. Edits may be taken back in any order.
  void apply(const Edits& edits);
  void revert(const Edits& edits);

  scheduler::Cluster& cluster() { return cluster_; }
  const scheduler::WorkloadForest& forest() const { return forest_; }
  const scheduler::Profile& profile() const { return profile_; }
  // What is wrong with the tree that a group stands in, in the words of the scheduler, which then
  // tries nothing of it; null if nothing is. Edits leave groups in their places and change no
  // fault.
  const std::string* fault(const scheduler::GroupKey& key) const { return faults_.of_group(key); }
  // An attempt may be made.
  bool runnable(const scheduler::GroupKey& root) const {
    return forest_.runnable(root) && fault(root) == nullptr;
  }
  const Members& members(const scheduler::GroupKey& leaf) const;
  // The groups below a composite, by creation time, then name.
  const std::vector<scheduler::GroupKey>& children(const scheduler::GroupKey& composite) const;
  const std::vector<api::ObjectPtr>& lone_waiting() const { return lone_waiting_; }
  // The roots of trees, runnable or not, by key.
  std::vector<scheduler::GroupKey> roots() const;
  // Null if there is none of the name.
  const api::Object* node(const std::string& name) const;
  // All nodes and all pods that hold one, by name; edits included.
  std::vector<api::ObjectPtr> nodes() const;
  std::vector<api::ObjectPtr> running() const;

  // Needs a root that is runnable.
  scheduler::Plan attempt(const scheduler::GroupKey& root);
  scheduler::Plan attempt(const api::ObjectPtr& lone_pod);

 private:
  void put(const api::ObjectPtr& object);
  void take(const api::ObjectPtr& object);
  void put_pod(const api::ObjectPtr& pod);
  void take_pod(const api::ObjectPtr& pod);
  void put_group(const api::ObjectPtr& object);
  void take_group(const api::ObjectPtr& object);
  void find_faults(const Objects& objects);
  bool is_compared(const scheduler::GroupSpec& root, Time now) const;
  // The list a pod belongs to, if it is in one, and what it counts as in the forest.
  std::vector<api::ObjectPtr>* list_of(const api::ObjectPtr& pod);
  std::optional<scheduler::Membership> membership_of(const api::ObjectPtr& pod) const;

  scheduler::Profile profile_;
  scheduler::Cluster cluster_;
  scheduler::WorkloadForest forest_;
  scheduler::TreeFaults faults_{forest_};
  std::map<std::string, api::ObjectPtr> nodes_;
  std::map<std::string, api::ObjectPtr> running_;  // by namespace/name
  std::map<scheduler::GroupKey, Members> members_;
  std::map<scheduler::GroupKey, std::vector<scheduler::GroupKey>> children_;
  std::vector<api::ObjectPtr> lone_waiting_;
};

// The PodGroup of a pod, if it names one.
std::optional<scheduler::GroupKey> leaf_of(const api::Object& pod);

}  // namespace muster::explain
