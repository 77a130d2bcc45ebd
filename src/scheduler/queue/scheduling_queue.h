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
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/plan.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/groups/forest_walk.h"
#include "scheduler/groups/namespace_turns.h"
#include "scheduler/queue/backoff.h"
#include "scheduler/queue/flight_log.h"
#include "scheduler/queue/peer_trees.h"
#include "scheduler/queue/queue_census.h"
#include "scheduler/queue/queue_entity.h"
#include "scheduler/queue/resting_set.h"
#include "scheduler/queue/stranded_leaves.h"

namespace muster::scheduler {

struct QueueOptions {
  BackoffOptions backoff;
  // An entity whose victims are going is tried again after this long at the latest: a little longer
  // than victims are waited for, so that others are chosen then.
  Duration hold_max = std::chrono::seconds{125};
  // A tree that has waited this long is tried again then: room may be kept for it from now on.
  Duration aged_after = std::chrono::minutes{10};
  // What rests longer than this is tried again even without an event.
  Duration rest_max = std::chrono::minutes{5};
  // Members whose group or an ancestor is missing are reported after this long.
  Duration stranded_patience = std::chrono::seconds{3};
  // When a group changes so many groups and pods below it are looked at in one go, at most the
  // burst, and the others as fast as their namespace may.
  std::size_t looks_at_once = 256;
  NamespaceTurns::Options looks = {};
  // Of more waiting pods of one class than this only as many are tried together, unless their group
  // needs more: one answers for the others, and what is placed is bound in parts of so many.
  std::size_t alike_max = 10'000;
  // Whether the tree of this root cannot be bound because of its size, which needs no search. It
  // comes without any pod then. May be empty.
  std::function<bool(const GroupKey& root)> too_large = {};
  // Called for every entity that has moved; may be empty. Must only observe.
  std::function<void(const QueueEntity& entity)> moved = {};
};

// Who is next. Holds every pod that waits for a node, alone or as a member of a group tree; the
// unit that is queued, tried and sent back is the *entity*: a lone pod, or the root of a tree with
// its waiting pods. Pods of *loose* trees (workload_forest.h) are entities of their own, since none
// needs another. Trees, roles and faults are the model's, which changes before the queue hears of
// it.
//
//            set_pod                       pop             placed
//   (new) ───────────▶ Gated ◀──▶ Active ───────▶ in flight ─────▶ committing ──watch──▶ (gone)
//                        ▲          ▲  ▲              │                 │
//                        │   expiry │  │ wake         │ refused         │ bind_failed
//                        ▼          │  │              ▼                 ▼
//                     (members)   Backoff ◀─wake── Resting         ErrorBackoff
//
// A rejected entity rests until an event could help one of the plugins that refused it, then is
// tried once its backoff is over, or at once if there is nothing better to do. A group is woken
// like a pod (L8, L9): the event cuts its backoff down to the initial one. After an error there is
// no event to wait for, so time alone decides.
//
// Resting pods are kept in *wait classes* (resting_set.h): an event is judged once per class, and
// wakes only its first pod. Of trees that no attempt can tell apart, one is woken (peer_trees.h).
//
// A change of a group may concern a hundred thousand pods. A few are looked at once; what is left
// is done in steps by pop(), as fast as their namespace may (queue_walks.cc).
//
// Deterministic, owned by the scheduler loop. It reads no clock: `now` is an argument and never
// goes back.
class SchedulingQueue {
 public:
  // Could the event help this pod, which `plugin` refused?
  using CouldHelp = std::function<bool(std::string_view plugin, const api::Object& pod,
                                       const ClusterEvent& event)>;

  // Does the plugin listen to such events at all?
  using Listens = std::function<bool(std::string_view plugin, Resource resource, Action action)>;

  // Without `listens` every plugin listens to everything.
  SchedulingQueue(QueueOptions options, const ClusterModel& model, CouldHelp could_help,
                  Listens listens = {});
  ~SchedulingQueue();

  // --- the model has changed ---
  // A pod without a node, new or changed; `changes` says what changed, as events aimed at it
  // alone.
  void set_pod(QueuePod pod, std::span<const ClusterEvent> changes, Time now);
  // It no longer waits: it has a node, has ended, terminates or is gone. Unknown ones are ignored.
  void remove_pod(std::string_view uid, Time now);
  // The members of a leaf that do not wait changed; `could_help`: in a way that could help the
  // tree.
  void members_changed(const GroupKey& leaf, bool could_help, Time now);
  void group_changed(const GroupChange& change, Time now);
  // The faults of these trees changed: invalid ones are held back, those valid again are tried.
  void trees_judged(const TreeFaults::Anchors& anchors, Time now);
  // Something else happened: wakes those it could help. With `priority_max`, only entities up to
  // that priority.
  void wake(const ClusterEvent& event, Time now, std::optional<std::int32_t> priority_max = {});

  // --- the cycle ---
  using Popped = std::variant<PendingPod, Group>;
  // The uid of a pod that is queued by itself, or the root of a tree.
  using EntityKey = std::variant<std::string, GroupKey>;
  EntityKey key_of(const Popped& entity) const;
  // The next entity, now in flight; nullopt if nothing is runnable. finish() must follow. A member
  // of a loose tree comes as its tree without any other pod.
  std::optional<Popped> pop(Time now);
  // The same for the tree of this root, ahead of everybody else; nullopt if it is not runnable.
  std::optional<Popped> pop_root(const GroupKey& root, Time now);
  // How the attempt at a popped entity ended. What was placed (and is assumed in the model) is kept
  // aside until the watch confirms it or the binding fails; what was refused goes where its refusal
  // says. Pods that have left the queue since are ignored.
  void finish(const Popped& entity, const Plan& plan, Time now);
  // An entity whose plan evicts somebody, or waits for pods already ending, is held back until they
  // are gone. Then this is called, and it is tried at once.
  void release(const EntityKey& entity, Time now);
  // The same after its backoff: something went wrong with them.
  void release_later(const EntityKey& entity, Time now);
  bool is_held(const EntityKey& entity) const;
  // A pod that rests, alone or with its tree, is tried again after its backoff: there is something
  // new to try that no event announces. Of pods that are alike the first goes, and the others
  // follow as long as it helps.
  void retry(std::string_view uid, Time now);

  // --- from the binder ---
  // A member of the leaf was bound: the errors of its tree are forgiven.
  void bound(const GroupKey& leaf);
  // The model has forgotten that the pod was assumed.
  void bind_failed(std::string_view uid, Time now);
  // The same for members of one tree that should have been bound together: one failure of the tree,
  // however many they are. Conflict: something changed that the watch will show; it is tried again
  // as soon as something of the tree does. Outdated: the watch has shown it, so nothing failed.
  enum class TreeFailure : std::uint8_t { Error, Conflict, Outdated };
  void tree_bind_failed(const GroupKey& root, std::span<const std::string> uids,
                        TreeFailure failure, Time now);

  // --- looking in ---
  bool knows(std::string_view uid) const { return pods_.contains(uid); }
  bool is_committing(std::string_view uid) const;
  // Whether this one is tried only because it, or one like it before, rested for rest_max: no event
  // called for it.
  bool is_flushed(const EntityKey& entity) const;
  bool has_runnable() const { return !active_.empty() || !backoff_.empty(); }
  // When something becomes runnable, or must be reported or compared, if nothing else happens.
  std::optional<Time> next_deadline() const;

  // Leaves whose pods have been without a root for a while; each once.
  struct Stranded {
    GroupKey leaf;
    api::ObjectPtr pod;  // one of its pods
    std::string why;
  };
  std::vector<Stranded> drain_stranded(Time now);
  // Roots that are to be compared with their Workload by now.
  std::vector<GroupKey> drain_comparisons(Time now);

  struct Counts {  // entities, except `incomplete`, which are pods without a root
    std::size_t active = 0, backoff = 0, resting = 0, gated = 0, incomplete = 0;
  };
  Counts counts() const;
  // The same in more detail. Walks wait classes and leaves.
  QueueCensus census() const;

  // Groups and pods that were looked at because a group changed.
  std::uint64_t looked_at() const { return looked_at_; }
  // Whether some of them are yet to be looked at.
  bool has_unfinished() const { return !unfinished_.empty(); }

  // For tests and simulations: the first contradiction found, in a sentence; empty if there is
  // none. Every pending member must be in exactly one place, and every entity where it says it is.
  std::string inconsistency() const;

 private:
  using Entity = QueueEntity;
  using Pod = QueuedPod;
  using State = QueuedPod::State;

  // scheduling_queue.cc: pods and trees
  Pod* find(std::string_view uid) const;
  Pod& add(QueuePod facts, State state, Time now);
  void set_state(Pod& pod, State state);
  void leave_pending(Pod& pod);
  void set_lone(Pod& pod, std::span<const ClusterEvent> changes, Time now);
  void reclassify(Pod& pod, Time now);
  void touch(const GroupKey& group, bool could_help, Time now);
  void requeue_group(Entity& entity, bool could_help, Time now);
  void drop_group(const GroupKey& root, Time now);
  void update_stranded(const GroupKey& leaf, Time now);

  // queue_loose.cc: members that are queued by themselves
  void update_loose_tree(Entity& tree, const GroupKey& changed, bool could_help, Time now);
  void queue_alone(Pod& pod, Time now);
  void queue_with_tree(Pod& pod, Time now);
  void queue_as_its_leaf(Pod& pod, Time now);
  std::uint64_t domain_of(const GroupKey& leaf, const GroupSpec& root) const;
  Group tree_of_single(Pod& pod, Time now);

  // queue_walks.cc: what a change of a group means for all below it
  struct Look {
    bool is_relinked = false;  // other groups are above them
    bool all_pods = false;     // also pods that stay queued by themselves
    bool could_help = false;   // such pods, if they rest
  };
  static Look both(const Look& a, const Look& b);
  // How far it is done. What comes while a walk is under way is for another one after it, so that
  // a tree that changes all the time is walked to its end all the same.
  struct TreeWalk {
    ForestWalk groups;
    Look look;
    std::optional<Look> again;
  };
  struct LeafWalk {
    std::uint64_t after = 0;  // sequence of the pod that was looked at last
    bool could_help = false;
    std::optional<Look> again;
  };
  struct Unfinished {
    std::map<GroupKey, TreeWalk> trees;  // by the group that changed
    std::map<GroupKey, LeafWalk> leaves;
  };
  std::size_t steps_at_once(const std::string& name_space, Time now) const;
  void charge(const std::string& name_space, std::size_t steps, Time now);
  void look_below(const GroupKey& group, const Look& look, Time now);
  void look_at_leaf(const GroupKey& leaf, const Look& look, Time now);
  bool concerns_pods(const GroupKey& leaf, const Look& look, Time now);
  void look_at_pods(const GroupKey& leaf, const Look& look, std::size_t& left, Time now);
  bool walk_tree(TreeWalk& walk, std::size_t& left, Time now);
  bool walk_leaf(const GroupKey& leaf, LeafWalk& walk, std::size_t& left, Time now);
  void queue_as_is_right(Pod& pod, bool is_loose, Time now);
  bool is_outdated(const Pod& pod) const;
  void go_on(Time now);
  void go_on(Unfinished& work, std::size_t& left, Time now);
  std::optional<Time> goes_on_at() const;

  // queue_places.cc: places, waking
  void move(Entity& entity, Place place);
  // Why one of those that rest is tried.
  enum class Cause : std::uint8_t { Event, Flush };
  void hold(Entity& entity, Time now);
  void end_hold(Entity& entity, Time expires, Time now);
  Entity* find_entity(const EntityKey& key) const;
  void enter(Entity& entity, Time now);
  void rest(Entity& entity, Time now);
  void wake_entity(Entity& entity, Time now);
  bool wait_for_turn(Entity& entity, Time now);
  void return_turn(Entity& entity, Time now);
  Time next_costly_turn(std::uint64_t cost, Time now);
  void release_peer(std::uint64_t shape, Time now, Cause cause = Cause::Event);
  void end_speech(Entity& tree, Time now);
  void flush(Entity& entity, Time now);
  void retry_in_time(Entity& entity, Time now);
  void release_next(WaitClass& wait_class, Time now, Cause cause = Cause::Event);
  void end_release(Entity& entity, bool release_another, Time now);
  bool any_listens(const PluginSet& plugins, const ClusterEvent& event) const;
  bool helps(const PluginSet& plugins, const api::Object& pod, const ClusterEvent& event) const;
  bool helped_in_flight(const Entity& entity, const Pod& pod, std::int32_t priority) const;

  // queue_cycle.cc, queue_finish.cc, queue_bindings.cc
  void move_expired(Time now);
  bool is_queued_wrong(const Entity& entity) const;
  bool is_too_large(const GroupKey& root) const;
  void requeue_wrong(Entity& entity, Time now);
  PendingPod start_attempt(Pod& pod);
  Popped begin_flight(Entity& entity, Time now);
  Group pop_tree(Entity& entity, Time now);
  std::vector<Pod*> waiting_pods(const GroupKey& leaf, Time now);
  void drop_alike(const GroupKey& leaf, std::vector<Pod*>& pods) const;
  std::uint64_t fill_leaf(Entity& entity, const GroupKey& leaf, std::vector<PendingPod>& out,
                          Time now);
  Pod* single_in_flight(const Group& tree) const;
  bool is_popped_whole(const Group& tree) const;
  void placed(std::string_view uid, Time now);
  void refused(const Refusal& refusal, bool holds, Time now);
  void refused_lone(Pod& pod, Outcome outcome, bool holds, Time now);
  void finish_group(const GroupKey& root, std::optional<Outcome> refusal, bool holds, Time now);
  struct Returned;
  Returned collect_returned(Entity& entity);
  void rest_group(Entity& entity, const Returned& returned, Time now);
  void end_flight(Entity& entity);
  void fail(Entity& entity, bool is_error, Time now);
  void enter_after_error(Entity& entity, Time now);
  void fail_alone(Pod& pod, Time now);
  bool return_to_waiting(std::string_view uid, Time now);

  // queue_counting.cc
  void count_members(QueueCensus& census) const;

  // queue_audit.cc
  std::string misplaced(const Entity& entity) const;
  std::string misplaced(const Pod& pod) const;

  const QueueOptions options_;
  const ClusterModel& model_;
  const WorkloadForest& forest_;  // of the model
  const CouldHelp could_help_;
  const Listens listens_;
  std::uint64_t sequence_ = 0;

  boost::unordered_flat_map<std::string_view, std::unique_ptr<Pod>>
      pods_;                                             // by uid; only the audit iterates it
  std::map<GroupKey, std::unique_ptr<Entity>> groups_;   // by root
  std::map<GroupKey, std::set<Pod*, Arrival>> pending_;  // by leaf: waiting, gated and in flight
  std::set<GroupKey> loose_;  // leaves with pending pods that are queued by themselves
  StrandedLeaves stranded_;
  std::map<std::string, Unfinished, std::less<>> unfinished_;  // by namespace; none is empty
  std::string went_on_with_;                                   // the namespace that had its turn
  NamespaceTurns turns_;
  std::uint64_t looked_at_ = 0;
  std::set<std::pair<Time, GroupKey>> comparisons_;  // when to compare a tree with its Workload

  // Every entity is in exactly one of these, according to its place.
  std::set<Entity*, QueueOrder> active_;
  std::set<Entity*, BackoffOrder> backoff_;        // may be popped early when nothing is active
  std::set<Entity*, BackoffOrder> error_backoff_;  // may not
  RestingSet resting_;
  std::set<std::pair<Time, Entity*>, HoldOrder> retries_;  // of those that rest, by retry_at
  PeerTrees peers_;
  Time costly_until_ = Time::min();  // until then, costly trees give up their turns
  std::size_t gated_ = 0;
  std::set<std::pair<Time, Entity*>, HoldOrder> holds_;  // the gated ones that are held back
  FlightLog flight_;
};

}  // namespace muster::scheduler
