#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/entity.h"
#include "scheduler/groups/tree_faults.h"
#include "scheduler/groups/workload_forest.h"
#include "scheduler/queue/backoff.h"

namespace muster::scheduler {

struct QueueOptions {
  BackoffOptions backoff;
  // What rests longer than this is tried again although no event called for it.
  Duration rest_max = std::chrono::minutes{5};
  // Members whose group or an ancestor is missing are reported after this long.
  Duration stranded_patience = std::chrono::seconds{3};
  // A tree whose first pod is older than this and that never was scheduled is compared with its
  // Workload.
  Duration compare_patience = std::chrono::minutes{1};
};

// A pod without a node, as the queue needs to know it.
struct QueuePod {
  api::ObjectPtr pod;
  std::int32_t priority = 0;
  std::optional<GroupKey> group;  // its PodGroup
  bool gated = false;
  std::uint64_t shape = 0;  // equal shapes: no plugin can tell the pods apart; 0: like no other
};

// Who is next. Holds every pod that waits for a node, alone or as a member of a group tree; the
// unit that is queued, tried and sent back is the *entity*: a lone pod, or the root of a tree with
// its waiting pods.
//
//            set_pod                       pop
//   (new) ───────────▶ Gated ◀──▶ Active ───────▶ in flight ──placed──▶ Away ──watch──▶ (gone)
//                        ▲          ▲  ▲              │                  │
//                        │   expiry │  │ wake         │ refused          │ bind_failed
//                        ▼          │  │              ▼                  ▼
//                     (members)   Backoff ◀─wake── Resting         ErrorBackoff
//
// A rejected entity rests until an event could help one of the plugins that refused it, then is
// tried once its backoff is over, or at once if there is nothing better to do. A group is woken
// like a pod (L8, L9): the event cuts its backoff down to the initial one. After an error nothing
// is known to wait for, so time alone decides.
//
// Resting pods are kept in *beds*: pods of one shape and priority that the same plugins refused. An
// event is judged once per bed, and wakes only its first pod; the next follows when that one was
// placed. So a freed slot costs one attempt beyond those that succeed, however many pods wait for
// it.
//
// Deterministic, owned by the scheduler loop. It asks for no time: `now` is an argument and never
// goes back.
class SchedulingQueue {
 public:
  // Could the event help this pod, which `plugin` refused?
  using CouldHelp = std::function<bool(std::string_view plugin, const api::Object& pod,
                                       const ClusterEvent& event)>;

  SchedulingQueue(QueueOptions options, CouldHelp could_help);
  ~SchedulingQueue();

  // --- from the watch ---
  // A pod without a node, new or changed; `changes` says what about it, as events aimed at it
  // alone.
  void set_pod(QueuePod pod, std::span<const ClusterEvent> changes, Time now);
  // A member that counts for its group and waits no more: it has a node, or has succeeded.
  void set_present(const api::ObjectPtr& pod, const GroupKey& leaf, Time now);
  // Deleted, failed or terminating; or a lone pod that has a node. Unknown ones are ignored.
  void remove_pod(std::string_view uid, Time now);
  void set_group(GroupSpec group, Time now);
  void remove_group(const GroupKey& key, Time now);
  // The templates that groups name; nullopt: the Workload is gone.
  void set_workload(std::string_view name_space, std::string_view name,
                    std::optional<WorkloadTemplates> templates, Time now);
  // Something else happened: wakes what it could help. With `priority_max`, only entities up to
  // that priority.
  void wake(const ClusterEvent& event, Time now, std::optional<std::int32_t> priority_max = {});

  // --- the cycle ---
  using Popped = std::variant<PendingPod, Group>;
  // The next entity, now in flight; nullopt if nothing is runnable. Its pods come back one by one
  // through placed() or refused(); for a group finish_group() follows, exactly once.
  std::optional<Popped> pop(Time now);
  // It has a node in our books; kept aside until the watch confirms it or the binding fails.
  void placed(std::string_view uid, Time now);
  enum class Fate : std::uint8_t {
    Rejected,  // by `plugins`; by nobody: there was no node to ask
    // The search stopped; over the same cluster it would stop again, so a group rests as if
    // rejected.
    Unresolved,
    Failed,   // an error; worth another try after backoff
    Invalid,  // the tree itself is wrong; only a change of the tree mends that
  };
  void refused(std::string_view uid, Fate fate, std::vector<std::string> plugins, Time now);
  // `fate` is nullopt if the root got what it needs; pods left over may still wait for room.
  void finish_group(const GroupKey& root, std::optional<Fate> fate, Time now);

  // --- from the binder ---
  void bound(std::string_view uid);
  void bind_failed(std::string_view uid, Time now);
  // The same for members of one tree that were to be bound together: one failure of the tree,
  // however many they are.
  void tree_bind_failed(const GroupKey& root, std::span<const std::string> uids, Time now);

  // --- looking in ---
  bool knows(std::string_view uid) const { return pods_.contains(uid); }
  bool is_away(std::string_view uid) const;
  bool has_runnable() const { return !active_.empty() || !backoff_.empty(); }
  // When something becomes runnable, or is to be reported, if nothing else happens.
  std::optional<Time> next_deadline() const;
  const WorkloadForest& forest() const { return forest_; }

  // Leaves whose pods have been without a root for a while; each is told once.
  struct Stranded {
    GroupKey leaf;
    api::ObjectPtr pod;  // one of its pods
    std::string why;
  };
  std::vector<Stranded> take_stranded(Time now);

  // Trees that are wrong in themselves are held back; what there is to say of them is for the
  // caller to fetch. `groups`: look at TreeFaults::of_group for each. `pods` joined a tree that is
  // wrong.
  struct Judged {
    std::vector<GroupKey> groups;
    std::vector<api::ObjectPtr> pods;
  };
  Judged take_judged(Time now);
  const TreeFaults& faults() const { return faults_; }
  // The pods of a leaf that wait for a node, in the order they came.
  std::vector<api::ObjectPtr> pending_pods(const GroupKey& leaf) const;

  struct Counts {  // entities, except `incomplete`, which are pods without a root
    std::size_t active = 0, backoff = 0, resting = 0, gated = 0, incomplete = 0;
  };
  Counts counts() const;

  // For tests and simulations: what contradicts itself here, in a sentence; empty if nothing does.
  // Every pending member must stand in exactly one place, and every entity where it says it is.
  std::string inconsistency() const;

 private:
  enum class Place : std::uint8_t {
    Nowhere,
    Gated,
    Active,
    Backoff,
    ErrorBackoff,
    Resting,
    InFlight
  };
  enum class State : std::uint8_t { Waiting, Gated, InFlight, Away, Present };
  using PluginSet = std::vector<std::string>;  // sorted, each once; interned, so pointers compare
  struct Bed;
  struct Entity;
  struct Pod;

  // Entities in the order they are tried: priority, then time, then arrival.
  struct QueueOrder {
    bool operator()(const Entity* a, const Entity* b) const;
  };
  struct BackoffOrder {
    bool operator()(const Entity* a, const Entity* b) const;
  };
  struct RestOrder {
    bool operator()(const Entity* a, const Entity* b) const;
  };
  struct Arrival {
    template <typename T>
    bool operator()(const T* a, const T* b) const {
      return a->sequence < b->sequence;
    }
  };
  struct BedKey {
    const PluginSet* plugins = nullptr;
    std::size_t plugins_rank = 0;  // of interning: pointers must not decide an order
    std::int32_t priority = 0;
    std::uint64_t shape = 0;
    std::uint64_t only = 0;  // for shape 0: the pod's sequence
    friend bool operator<(const BedKey& a, const BedKey& b) {
      return std::tie(a.plugins_rank, a.priority, a.shape, a.only) <
             std::tie(b.plugins_rank, b.priority, b.shape, b.only);
    }
    friend bool operator==(const BedKey&, const BedKey&) = default;
  };
  struct Bedding {  // where to rest, and a pod that could be lying there
    BedKey key;
    api::ObjectPtr example;
  };
  struct Logged {  // an event that came while something was in flight
    ClusterEvent event;
    std::optional<std::int32_t> priority_max;
    std::string target;  // uid; empty: everybody
  };

  Pod* find(std::string_view uid) const;
  Pod& add(QueuePod facts, State state, Time now);
  void stand(Pod& pod, State state);
  static Membership membership(State state);

  void move(Entity& entity, Place place);
  void enter(Entity& entity, Time now);
  void rest(Entity& entity, std::span<const Bedding> beds, Time now);
  void leave_beds(Entity& entity);
  void wake_entity(Entity& entity, Time now);
  void release_next(Bed& bed, Time now);
  void end_release(Entity& entity, bool release_another, Time now);
  void drop_bed_if_empty(Bed& bed);
  void fail(Entity& entity, Fate fate, std::size_t pods, Time now);

  void set_lone(Pod& pod, std::span<const ClusterEvent> changes, Time now);
  void reshape(Pod& pod, Time now);
  void refused_lone(Pod& pod, Fate fate, Time now);
  void touch(const GroupKey& group, bool stir, Time now);
  void settle_group(Entity& entity, bool stir, Time now);
  void drop_group(const GroupKey& root);
  void note_stranded(const GroupKey& leaf, Time now);
  bool may_run(const GroupKey& root) const {
    return forest_.runnable(root) && faults_.of_tree(root) == nullptr;
  }
  void settle_judged(const TreeFaults::Anchors& changed, Time now);
  void plan_comparison(const GroupKey& root, Time now);
  void compare_overdue(Time now);

  const PluginSet* intern(std::vector<std::string> plugins);
  Bedding bedding(const Pod& pod, std::int32_t priority) const;
  bool helps(const PluginSet& plugins, const api::Object& pod, const ClusterEvent& event) const;
  bool helped_in_flight(const Entity& entity, const Pod& pod, std::int32_t priority) const;
  void end_flight(Entity& entity);
  void move_expired(Time now);
  std::string misplaced(const Entity& entity) const;
  std::string misplaced(const Pod& pod) const;

  const QueueOptions options_;
  const CouldHelp could_help_;
  std::uint64_t sequence_ = 0;

  boost::unordered_flat_map<std::string_view, std::unique_ptr<Pod>>
      pods_;  // by uid; only the audit iterates it
  WorkloadForest forest_;
  TreeFaults faults_{forest_};
  std::vector<api::ObjectPtr> joined_wrong_;
  std::set<std::pair<Time, GroupKey>> comparisons_;      // when to compare a tree with its Workload
  std::map<GroupKey, std::unique_ptr<Entity>> groups_;   // by root
  std::map<GroupKey, std::set<Pod*, Arrival>> pending_;  // by leaf: waiting, gated and in flight
  struct Missing {
    Time since;
    std::string told;  // what was said to be missing; empty: nothing yet
  };
  std::map<GroupKey, Missing> stranded_;  // by leaf

  // Every entity is in exactly one of these, according to its place.
  std::set<Entity*, QueueOrder> active_;
  std::set<Entity*, BackoffOrder> backoff_;        // may be popped early when nothing is active
  std::set<Entity*, BackoffOrder> error_backoff_;  // may not
  std::set<Entity*, RestOrder> resting_;
  std::size_t gated_ = 0;

  std::map<std::vector<std::string>, std::size_t> plugin_sets_;  // to its rank
  std::map<BedKey, Bed> beds_;

  std::size_t in_flight_ = 0;
  std::vector<Logged> flight_log_;
};

}  // namespace muster::scheduler
