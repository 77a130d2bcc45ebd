#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "scheduler/framework/entity.h"
#include "scheduler/preemption/object_writes.h"

namespace muster::scheduler {

// Evicts groups that are disrupted as a whole, so that none stays evicted in part, no matter which
// process dies when.
//
//   evict ──▶ mark pods ──▶ mark group ──▶ delete pods ──▶ all are seen to leave
//                 │ failed       │ failed       ▲
//                 └──────────────┴─▶ unmark group ─▶ unmark pods
//                                               │         ▲
//   found ──▶ read group ── is marked ──────────┘         │
//                     └──── is not ───────────────────────┘
//
// The condition DisruptionTarget of the group is the decision. It is written once every pod that
// goes carries the same condition, and it is removed before pods are marked for another eviction.
// So the API alone says: once a group is marked, exactly its marked pods must go; before that, none
// has gone. A scheduler that finds a marked pod running reads its group and finishes
// the eviction, or takes the marks of its pods away. Pods that join the group later carry no mark.
//
// What was decided is not undone: the preemptor may be gone by then, but some of the pods may be
// too. So deletions are repeated until they are done.
class UnitEvictions {
 public:
  struct Unit {
    GroupKey key;
    api::ObjectPtr group;
    std::vector<api::ObjectPtr> pods;
    std::string message;  // of the conditions
  };
  struct Listener {
    // The decision is durable: the pods will go.
    std::function<void(const GroupKey& unit, const std::string& message, Time now)> decided;
    // These pods were not evicted.
    std::function<void(const api::ObjectPtr& pod, const Error& error, Time now)> failed;
    // The server refuses to delete the pod; it is asked again until it does.
    std::function<void(const api::ObjectPtr& pod, const Error& error, Time now)> refused;
    // The server has accepted the deletion of the pod, or the pod was gone.
    std::function<void(const api::ObjectPtr& pod, Time now)> deleted;
    // is_evicted() is false from now on.
    std::function<void(const GroupKey& unit, Time now)> ended;
  };

  UnitEvictions(ObjectWrites& writes, Listener listener)
      : writes_(writes), listener_(std::move(listener)) {}

  // Evicts these pods of the group, all that it has. If an eviction of the group is under way, pods
  // that are not part of it are evicted afterwards.
  void evict(Unit unit, Time now);
  // This pod of the group runs and was marked by somebody before us.
  void found(const GroupKey& key, const api::ObjectPtr& group, const api::ObjectPtr& pod, Time now);
  // The group has a place again: takes its mark away.
  void unmark(const GroupKey& key, const api::ObjectPtr& group, Time now);
  // The pod ends, or is gone.
  void pod_leaves(std::string_view uid, Time now);
  void forget_group(const GroupKey& key) { marked_.erase(key); }

  bool concerns(std::string_view uid) const { return victims_.contains(std::string(uid)); }
  // Pods that wait in the group must not be placed: those that go would count as their siblings.
  bool is_evicted(const GroupKey& key) const;
  bool empty() const { return evictions_.empty(); }

 private:
  enum class Stage : std::uint8_t {
    ReadGroup,
    ClearGroup,  // of the mark of an earlier eviction
    MarkPods,
    MarkGroup,
    DeletePods,
    Leaving,  // until the watch has shown it
    UnmarkGroup,
    UnmarkPods,
  };
  struct Eviction {
    Stage stage = Stage::ReadGroup;
    api::ObjectPtr group;
    std::string message;
    std::map<std::string, api::ObjectPtr> pods;  // by uid: those not seen to leave yet
    std::size_t calls = 0;                       // of this stage, under way
    bool is_marked = false;                      // the group, as it was read
    std::optional<Error> failure;                // of this stage
    std::optional<Unit> next;
  };

  void start(const GroupKey& key, Unit unit, Time now);
  void enter(const GroupKey& key, Stage stage, Time now);
  void leave(const GroupKey& key, Time now);
  void end(const GroupKey& key, Time now);
  void give_up(const GroupKey& key, Eviction& eviction, Time now);
  void about_group(const GroupKey& key, Eviction& eviction, Time now);
  void about_pod(const GroupKey& key, Eviction& eviction, const api::ObjectPtr& pod, Time now);
  void finished(const GroupKey& key, const ObjectWrites::Ended& ended, bool is_group, Time now);

  ObjectWrites& writes_;
  const Listener listener_;
  std::map<GroupKey, Eviction> evictions_;
  boost::unordered_flat_map<std::string, GroupKey> victims_;  // by uid; never iterated
  // Groups that carry our mark, though the watch may not have shown it.
  std::set<GroupKey> marked_;
};

}  // namespace muster::scheduler
