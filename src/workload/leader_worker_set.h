#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/lws_scheduling.h"
#include "base/result.h"
#include "workload/builder.h"
#include "workload/stamper.h"

// LeaderWorkerSets (leaderworkerset.x-k8s.io) as workloads. `set` is a document with metadata and
// spec; its spec.scheduling has three levels: the whole set, each replica (a leader and its
// workers), each role in a replica.
//
//   one level speaks    one PodGroup for the set, or one per replica, or two per replica
//   several speak       CompositePodGroups above PodGroups: set ▶ replica ▶ leader, worker
namespace muster::workload {

enum class LwsRole : std::uint8_t { Leader, Worker };

using api::lws_levels;
using api::LwsLevels;

// Names of the templates.
inline constexpr std::string_view kLwsTemplate = "lws";
inline constexpr std::string_view kReplicaTemplate = "replica";
std::string_view role_template(LwsRole role);

// The templates that the groups of a set are made from: those of its own Workload, or of the one
// that its owner has made (lws_delegation.h).
struct LwsTemplates {
  LwsLevels levels = {};
  std::string set{kLwsTemplate};
  std::string replica{kReplicaTemplate};
  std::string leader{"leader"};
  std::string worker{"worker"};
  bool is_owners = false;   // the owner's minimums count then, not the size of the set
  std::string parent = {};  // the owner's group that the topmost ones are part of
};
LwsTemplates lws_templates(const api::Json& set);

// The items of the set's tree. Invalid names the contradiction.
Result<std::vector<Item>> lws_items(const api::Json& set);
// The Workload; a document for a create request.
Result<api::Json> lws_workload(const api::Json& set, const api::Gates& gates);
std::string lws_workload_name(const api::Json& set);

// The groups of one replica, parents before children. `incarnation`: empty, or what distinguishes
// this replica from an earlier one whose pods may still exist.
struct LwsReplica {
  std::int32_t index = 0;
  std::string revision;
  std::string incarnation = {};
};
// The PodGroup that a pod of the replica belongs to.
std::string lws_pod_group(const api::Json& set, const LwsLevels& levels, const LwsReplica& replica,
                          LwsRole role);
// Which groups a replica has. `size`: its pods, which a later revision of the set may have changed.
struct LwsGroupName {
  const api::Kind* kind = nullptr;
  std::string name;
};
std::vector<LwsGroupName> lws_replica_group_names(const api::Json& set, const LwsLevels& levels,
                                                  const LwsReplica& replica, std::int32_t size);
// The same as documents. `workload` as the API returned it; `stamper` is of it.
Result<std::vector<StampedGroup>> lws_replica_groups(const api::Json& set,
                                                     const api::Json& workload,
                                                     const Stamper& stamper,
                                                     const LwsTemplates& templates,
                                                     const LwsReplica& replica, std::int32_t size);
Result<std::vector<StampedGroup>> lws_replica_groups(const api::Json& set,
                                                     const api::Json& workload,
                                                     const LwsTemplates& templates,
                                                     const LwsReplica& replica, std::int32_t size);
// The one group above all replicas: a CompositePodGroup, or the PodGroup of all pods. None if the
// level of the set says nothing, or the set is scaled to nothing.
Result<std::optional<StampedGroup>> lws_set_group(const api::Json& set, const api::Json& workload,
                                                  const LwsTemplates& templates);
std::string lws_set_group_name(const api::Json& set);
// The minimum that this group should have: child groups, or pods.
std::int32_t lws_set_minimum(const api::Json& set);

// Labels of groups.
inline constexpr std::string_view kLwsName = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kLwsGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kLwsRevision =
    "leaderworkerset.sigs.k8s.io/template-revision-hash";

}  // namespace muster::workload
