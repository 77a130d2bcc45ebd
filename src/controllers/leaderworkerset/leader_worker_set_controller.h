#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/views/condition.h"
#include "api/views/leader_worker_set_view.h"
#include "client/kit/mirror.h"
#include "controllers/common/writing_controller.h"
#include "controllers/leaderworkerset/lws_rollout.h"
#include "controllers/leaderworkerset/lws_table.h"
#include "workload/delegation.h"
#include "workload/leader_worker_set.h"

namespace muster::controllers {

// Runs LeaderWorkerSets: replicas of one leader and its workers that come, go and are scheduled as
// units.
//
//   LeaderWorkerSet ──▶ StatefulSet of leaders ──▶ leader pods
//          │                                          │ each owns
//          │                                          ▼
//          │                            StatefulSet of workers ──▶ worker pods
//          └──▶ Workload, CompositePodGroups, PodGroups, before the pods in them
//
// Both StatefulSets are run by their own controller, except that pods are made here: each pod is
// given its place in its replica and its group, which no template can express. Upstream
// rewrites pods on their way into the API instead.
class LeaderWorkerSetController final : public WritingController {
 public:
  LeaderWorkerSetController(api::Gates gates, client::ComponentContext context);

 private:
  // What is remembered of a set between looks; everything else is in the API.
  struct Memory {
    std::string uid;
    std::int64_t generation = -1;  // of what follows
    api::Json document;            // metadata and spec
    api::Json data;                // of its revision
    std::string data_text;
    // What its groups are made from; of an owner's Workload, as the last look found it.
    workload::LwsTemplates templates;
    bool pods_name_group = false;    // its pod templates name a group that somebody else makes
    bool workload_compared = false;  // the Workload's minimums are those of this generation
    std::string awaited_parent;      // key of the owner's CompositePodGroup that is missing
    bool makes_groups = false;       // the last look has found some missing
    bool in_round = false;           // the next look goes on with replicas that the last has left
    // Why its groups cannot be made or removed; nullopt: they can.
    std::optional<api::Condition> blocked;
  };
  struct Look {
    const std::string& key;
    const api::ObjectPtr& set;
    const api::LeaderWorkerSetView& view;
    Memory& memory;
    LwsTable& table;
    Time now;
    std::string revision = {};            // the hash of the newest
    api::ObjectPtr leader_set = nullptr;  // of leaders
    api::ObjectPtr workload = nullptr;    // null if it needs none
  };
  // The groups of a replica. Not `there`: they are being made.
  struct ReplicaGroups {
    bool there = false;
    std::string leader = {};  // empty: it has none
  };
  // A group of a replica that is to be made.
  struct NewGroup {
    const api::Kind* kind = nullptr;
    std::size_t place = 0;  // among those of its replica
    workload::LwsReplica replica;
    std::int32_t size = 1;  // pods of the replica
    std::string leader;     // the group of its leader
  };

  static std::vector<Watch> watches(LeaderWorkerSetController& self);
  Keys on_set(const Change& change);
  Keys on_pod(const Change& change);
  Keys on_stateful_set(const Change& change);
  Keys on_revision(const Change& change);
  Keys on_service(const Change& change);
  Keys on_group(const Change& change);
  Keys on_workload(const Change& change);
  void on_leader(const std::string& key, std::int32_t index, const Change& change);
  void on_worker(const std::string& key, std::int32_t index, std::int32_t worker,
                 const Change& change);

  void reconcile(const std::string& key, Time now) override;
  void refresh(const Look& look);
  bool find_revision(Look& look);
  bool has_service(const Look& look, const api::Object* leader);
  // Makes and rolls over the StatefulSet of leaders. False: it is being written.
  bool reconcile_leader_set(Look& look);
  // The revision that a new leader of this index is made from: a template and its names.
  struct LeaderTemplate {
    api::Json pod_template;
    std::string set_revision;
    std::string revision;
    std::int32_t size = 1;
  };
  // `older`: the revision it is held back at; null: it is not.
  static LeaderTemplate leader_template(const api::Object& leader_set, const api::Object* older);
  void create_leaders(const Look& look);
  // Looks at replicas that have changed, or were not finished last time, up to a limit.
  void look_at_due(const Look& look, bool may_run);
  void look_at_replica(const Look& look, std::int32_t index, const LwsGroup& group);
  static bool recreates(const Look& look, const LwsGroup& group);
  void start_workers(const Look& look, std::int32_t index, const LwsGroup& group);
  void create_workers(const Look& look, std::int32_t index, const LwsGroup& group);
  void write_status(const Look& look);
  void send_pods(const Look& look, Writes writes, const api::ObjectPtr& owner);

  // The Workload and the groups above all replicas. False: they are being made, or cannot be.
  bool has_workload(Look& look);
  bool has_own_workload(Look& look);
  // The same for the Workload that its owner made, and the owner's group above the set's groups.
  bool has_owners_workload(Look& look, const workload::Delegation& delegation);
  bool may_group(const Look& look);
  // Looks again when there is a CompositePodGroup of this key; empty: no longer waits.
  void wait_for_parent(const std::string& key, Memory& memory, std::string parent);
  bool resizes_workload(const Look& look);
  bool has_set_group(const Look& look);
  // Adds those to `missing` that can be made now.
  ReplicaGroups find_replica_groups(const Look& look, std::int32_t index,
                                    const LeaderTemplate& from, std::vector<NewGroup>& missing);
  void create_replica_groups(const Look& look, std::vector<NewGroup> groups);
  void remove_unused_groups(const Look& look, std::int32_t index, const LwsGroup* group);
  bool is_used(const api::Object& pod_group) const;
  void block(const Look& look, std::string_view reason, std::string message);
  // The obstacle with this reason is gone.
  static void unblock(Memory& memory, std::string_view reason);
  void delete_group(const Look& look, const api::Object& group);
  void create_group(const Look& look, const api::Kind& kind, api::Json document);
  void on_group_created(const std::string& key, const api::Object& set, std::string_view kind,
                        const client::Outcome& outcome, Time now);

  const api::Gates gates_;
  client::Mirror sets_;
  client::Mirror pods_;
  client::Mirror stateful_sets_;
  client::Mirror revisions_;
  client::Mirror services_;
  client::Mirror workloads_;
  client::Mirror pod_groups_;
  client::Mirror composites_;
  std::map<std::string, LwsTable, std::less<>> tables_;  // by key; of those with pods or sets
  std::map<std::string, Memory, std::less<>> memory_;    // by key; of sets that exist
  // Keys of sets that wait for a CompositePodGroup of their owner, by its key.
  std::map<std::string, std::set<std::string>, std::less<>> waiting_for_parent_;
};

}  // namespace muster::controllers
