#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates/gates.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/groups/disruption_budgets.h"
#include "scheduler/groups/member_traits.h"
#include "scheduler/groups/nominations.h"
#include "scheduler/groups/tree_faults.h"
#include "scheduler/groups/workload_forest.h"

namespace muster::scheduler {

// The part a pod plays, for its group or alone.
enum class PodRole : std::uint8_t {
  Waiting,    // for a node, and may be tried
  Gated,      // waits, and may not be tried yet
  Foreign,    // waits for another scheduler
  Running,    // has a node, by the API or assumed, and is not terminating
  Succeeded,  // has finished successfully
  Lost,       // failed or terminating: counts for nothing
};
inline constexpr std::size_t kPodRoles = 6;

// A pod was added, changed or removed. One that is replaced under its name is two changes.
struct PodChange {
  api::ObjectPtr before;  // null: it is new
  api::ObjectPtr after;   // null: it is gone
  std::optional<GroupKey> leaf;
  std::optional<PodRole> role_before;
  std::optional<PodRole> role_after;
  std::string assumed_on;  // the node it was assumed on until now; mostly empty
};

struct NodeChange {
  api::ObjectPtr before;  // null: it is new
  api::ObjectPtr after;   // null: it is gone
};

// The labels of a namespace changed: pods may be selected by them.
struct NamespaceChange {
  api::ObjectPtr before;  // null: not known
  api::ObjectPtr after;   // null: it is gone
};

// A PodGroup or CompositePodGroup was added, changed or removed.
struct GroupChange {
  api::ObjectPtr object;
  GroupKey key;
  bool is_gone = false;
  bool is_relinked = false;  // new, gone, or below another parent
  // What pods below it are queued by if none needs another: their tree, priority or domain, or
  // whether they agree with it.
  bool requeues_pods = false;
  bool schedules_alike = false;       // only the object differs, as after a status write
  std::optional<GroupKey> root_then;  // the root above it before
  TreeFaults::Anchors judged;         // trees whose fault changed because of it
};

// An object about storage was added, changed or removed.
struct VolumeChange {
  api::ObjectPtr before;  // null: it is new
  api::ObjectPtr after;   // null: it is gone
};

// Learns of every change to a model, after it has happened. It may assume and forget pods, but not
// put or remove objects.
class ModelListener {
 public:
  virtual ~ModelListener() = default;
  virtual void on_pod(const PodChange& change) = 0;
  virtual void on_node(const NodeChange& change) = 0;
  virtual void on_group(const GroupChange& change) = 0;
  virtual void on_namespace(const NamespaceChange& /*change*/) {}
  // Trees whose fault changed because of a Workload.
  virtual void on_workload(const TreeFaults::Anchors& judged) = 0;
  virtual void on_volume(const VolumeChange& /*change*/) {}
};

struct ModelOptions {
  api::Gates gates = {};
  // A tree whose first pending pod is older than this and that never was scheduled is compared with
  // its Workload.
  Duration compare_patience = std::chrono::minutes{1};
  // So many groups are looked at for faults when one changes; the others when judge() is called.
  std::size_t judged_at_once = SIZE_MAX;
};

// The cluster and its groups as a scheduler believes them: the one place where objects become
// columns, trees, roles and faults. The scheduler feeds one from its watches; explanations and
// other questions are asked of a fork, or of a model built from lists, which is the same: what a
// model answers depends on its objects and what is assumed, not on their order, except that an
// invalid tree names the first culprit found (cycle/model_attempt_test.cc).
//
//   object ──put/remove──▶ ClusterModel ──▶ Cluster        columns of nodes, pods on them
//                               │      ──▶ WorkloadForest  trees, who is ready
//                               │      ──▶ TreeFaults      which trees are invalid
//                               │      ──▶ TraitsBook      what members say of themselves
//                               ▼
//                         ModelListener                    the scheduler's queue, binder, reports
//
// attempt() in cycle/attempt.h plans what to do with a root or a pod. Deterministic; one owner.
class ClusterModel {
 public:
  ClusterModel(Profiles profiles, ModelOptions options);
  ClusterModel& operator=(const ClusterModel&) = delete;

  // A model of its own with the same content and no listener. Objects and specs are shared; what it
  // costs is copying the columns and one slot per pod.
  std::unique_ptr<ClusterModel> fork() const;

  void set_listener(ModelListener* listener) { listener_ = listener; }

  // --- objects ---
  // Added or changed: a Node, Pod, Namespace, PodGroup, CompositePodGroup, Workload,
  // PodDisruptionBudget, or what the books of volumes and selectors keep. Others are ignored, as
  // are kinds whose gate is off.
  void put(const api::ObjectPtr& object);
  // Deleted. Unknown ones are ignored.
  void remove(const api::Object& object);

  // --- our own decisions ---
  // Counts a waiting pod as running on the node until the API says so or it is forgotten.
  void assume(const api::ObjectPtr& pod, std::string_view node);
  // The node a pod is assumed on; empty if it is not.
  std::string assumed_node(std::string_view uid) const { return cluster_.assumed_node(uid); }
  // The pod gives back the node it is assumed on, if it is. Returns the pod as it is now if it
  // waits (again); null if it is gone, replaced, terminating or bound by others meanwhile.
  api::ObjectPtr forget(const api::Object& pod);

  // --- room kept for pods that wait, and promises to those that run ---
  // Before an attempt, count_nominated() lets exactly those nominations count that matter to it.
  Nominations& nominations() { return nominations_; }
  const Nominations& nominations() const { return nominations_; }
  void count_nominated(const PendingPod& tried);
  void count_nominated(const Group& tried);
  const DisruptionBudgets& budgets() const { return budgets_; }

  // --- the cluster ---
  Cluster& cluster() { return cluster_; }
  const Cluster& cluster() const { return cluster_; }
  const Profiles& profiles() const { return profiles_; }
  // The profile that the pod asks for; the first one if it asks for another scheduler.
  const Profile& profile_of(const api::Object& pod) const;
  // The profile of a tree: its pods must all ask for the same one, and the first speaks for them.
  const Profile& profile_of(const Group& root) const;
  // The name that the members of a group ask for, if it is one of ours; otherwise our first.
  const std::string& scheduler_name_of(const GroupKey& key) const;
  // Whether the pod waits for us and not for another scheduler.
  bool serves(const api::Object& pod) const;
  const ModelOptions& options() const { return options_; }
  // Null if there is no such node.
  api::ObjectPtr node(std::string_view name) const;
  api::ObjectPtr pod(std::string_view name_space, std::string_view name) const;
  // All nodes, and all pods that hold one by the API, by name.
  std::vector<api::ObjectPtr> nodes() const;
  std::vector<api::ObjectPtr> running() const;

  // --- groups ---
  const WorkloadForest& forest() const { return forest_; }
  const TreeFaults& faults() const { return faults_; }
  // What is wrong with the tree of a group, so that nothing of it is tried; null if nothing is.
  const std::string* fault(const GroupKey& key) const { return faults_.of_group(key); }
  // Whether the root may be attempted.
  bool runnable(const GroupKey& root) const {
    return forest_.runnable(root) && faults_.of_tree(root) == nullptr && faults_.is_judged(root);
  }
  // No pod at or below the group that may be tried needs another, so each can be tried by itself.
  bool loose(const GroupKey& key) const;
  // The roots of all trees that have members, runnable or not, by key.
  std::vector<GroupKey> roots() const;
  // The PodGroup of a pod; nullopt for lone pods, and for all if groups are not in use.
  std::optional<GroupKey> leaf_of(const api::Object& pod) const;
  // The members of a PodGroup in that role, in the order of the queue for pods never tried:
  // priority, age, name.
  std::vector<api::ObjectPtr> members(const GroupKey& leaf, PodRole role,
                                      std::size_t at_most = SIZE_MAX) const;
  std::size_t count(const GroupKey& leaf, PodRole role) const;
  // The same in an arbitrary order, which must not influence any result.
  template <typename Visit>
  void each_member(const GroupKey& leaf, PodRole role, Visit&& visit) const {
    const auto at = leaves_.find(leaf);
    if (at == leaves_.end()) return;
    for (const SlotId id : at->second[static_cast<std::size_t>(role)]) visit(slots_[id].pod);
  }
  // The same in pieces, from the end: visits at most `at_most` members before `position`, and
  // returns the position it reached. At 0 every member that was there at the beginning has been
  // visited, since the last member takes the place of one that leaves. Later members are not
  // visited.
  template <typename Visit>
  std::size_t each_member_before(std::size_t position, std::size_t at_most, const GroupKey& leaf,
                                 PodRole role, Visit&& visit) const {
    const auto at = leaves_.find(leaf);
    if (at == leaves_.end()) return 0;
    const std::vector<SlotId>& list = at->second[static_cast<std::size_t>(role)];
    position = std::min(position, list.size());
    for (; position > 0 && at_most > 0; --at_most) visit(slots_[list[--position]].pod);
    return position;
  }
  std::vector<api::ObjectPtr> lone(PodRole role) const;

  // When the tree of a root is to be compared with its Workload; nullopt: not at all as it stands.
  // Pods without a creation time count from `now`.
  std::optional<Time> comparison_due(const GroupKey& root, Time now) const;
  // Compares it from now on; returns the trees whose fault changed because of it.
  TreeFaults::Anchors compare(const GroupKey& root) { return faults_.compare(root); }
  // Namespaces with groups that were not looked at for faults yet; looks at so many of one.
  std::vector<std::string> unjudged() const { return faults_.unfinished(); }
  TreeFaults::Anchors judge(const std::string& name_space, std::size_t& steps) {
    return faults_.go_on(name_space, steps);
  }
  // Namespaces with groups whose fault, or lack of one, has to be reported; so many of one.
  std::vector<std::string> judged_namespaces() const { return faults_.changed_namespaces(); }
  std::vector<GroupKey> drain_judged(const std::string& name_space, std::size_t at_most) {
    return faults_.drain_changed(name_space, at_most);
  }

  // The tree of a root as an attempt at that time needs it, member traits included. Without `fill`
  // the waiting pods come in the order of members(), and nobody waits for a preferred topology.
  Group build(const GroupKey& root) const;
  Group build(const GroupKey& root, const WorkloadForest::Fill& fill, Time now) const;

 private:
  // A pod's place in the books. Slots are reused; `position` is where the slot is in the list of
  // its role, so that leaving the list costs one swap.
  struct Slot {
    api::ObjectPtr pod;  // null: free
    PodRole role = PodRole::Lost;
    std::uint32_t position = 0;
  };
  using SlotId = std::uint32_t;
  // Slots by role, in no particular order.
  using Roles = std::array<std::vector<SlotId>, kPodRoles>;
  struct Name {  // views into the object of the slot
    std::string_view name_space;
    std::string_view name;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct NameHash {
    std::size_t operator()(const Name& name) const {
      const std::hash<std::string_view> hash;
      return hash(name.name) * 31 + hash(name.name_space);
    }
  };

  ClusterModel(const ClusterModel& other);

  void put_pod(const api::ObjectPtr& pod);
  void put_node(const api::ObjectPtr& node);
  void put_group(const api::ObjectPtr& object);
  void update_agreement(const GroupKey& leaf);
  void set_workload(const api::Object& object, bool is_gone);
  void remove_pod(const api::Object& pod);
  void remove_node(const api::Object& node);
  void volume_changed(const VolumeChange& change);
  void count_claims(const api::ObjectPtr& before, const api::ObjectPtr& after);
  void put_namespace(const api::ObjectPtr& object);
  void remove_namespace(const api::Object& object);
  void remove_group(const api::Object& object);

  const Slot* find(std::string_view name_space, std::string_view name) const;
  bool is_same_member(const api::Object& known, const api::Object& pod) const;
  SlotId new_slot();
  PodRole role_of(const api::ObjectPtr& pod) const;
  void count_on_node(const api::ObjectPtr& before, const api::ObjectPtr& pod);
  void set_role(SlotId id, PodRole role);
  void enter_role(SlotId id, PodRole role);
  void leave_role(SlotId id);
  Roles& roles_of(const std::optional<GroupKey>& leaf);
  std::vector<api::ObjectPtr> in_order(const std::vector<SlotId>& slots,
                                       std::size_t at_most = SIZE_MAX) const;
  void add_traits(Group& group) const;
  void add_nominations(Group& group) const;

  Profiles profiles_;
  ModelOptions options_;
  ModelListener* listener_ = nullptr;

  Cluster cluster_;
  WorkloadForest forest_;
  TreeFaults faults_;
  TraitsBook traits_;
  Nominations nominations_{cluster_};
  DisruptionBudgets budgets_;

  std::vector<Slot> slots_;
  std::vector<SlotId> free_slots_;
  boost::unordered_flat_map<Name, SlotId, NameHash> slot_by_name_;
  std::map<GroupKey, Roles> leaves_;
  Roles lone_;
};

}  // namespace muster::scheduler
