#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/object.h"
#include "workload/leader_worker_set.h"

// Labels and annotations of what a LeaderWorkerSet is made of.
namespace muster::controllers {

inline constexpr std::string_view kLwsWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
inline constexpr std::string_view kLwsGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
inline constexpr std::string_view kLwsSubgroupIndex = "leaderworkerset.sigs.k8s.io/subgroup-index";
inline constexpr std::string_view kLwsSubgroupKey = "leaderworkerset.sigs.k8s.io/subgroup-key";
inline constexpr std::string_view kLwsSize = "leaderworkerset.sigs.k8s.io/size";
inline constexpr std::string_view kLwsReplicas = "leaderworkerset.sigs.k8s.io/replicas";
inline constexpr std::string_view kLwsLeaderName = "leaderworkerset.sigs.k8s.io/leader-name";
inline constexpr std::string_view kLwsExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kLwsSubgroupExclusive =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";
inline constexpr std::string_view kLwsSubgroupSize = "leaderworkerset.sigs.k8s.io/subgroup-size";
inline constexpr std::string_view kLwsSubgroupType =
    "leaderworkerset.sigs.k8s.io/subgroup-policy-type";
inline constexpr std::string_view kLwsSubdomain = "leaderworkerset.sigs.k8s.io/subdomainPolicy";
// Ours, on groups: the PodGroup of the leader whose replica they are for.
inline constexpr std::string_view kLwsLeaderGroup = "leaderworkerset.muster.dev/leader-group";

// Reasons of condition WorkloadSchedulingCreated. The Workload, or a group that its owner makes, is
// missing:
inline constexpr std::string_view kParentNotReady = "ParentWorkloadNotReady";
// No groups can be made from the spec:
inline constexpr std::string_view kInvalidScheduling = "InvalidSchedulingConfiguration";
// Groups that should go do not:
inline constexpr std::string_view kCleanupBlocked = "PodGroupCleanupBlocked";
// The suffix of others: the server refused an object of this kind.
inline constexpr std::string_view kCreateFailed = "CreateFailed";

// The revision that a pod or StatefulSet was made from; empty if it says none.
std::string_view lws_revision(const api::Object& object);
// How many pods the replica of this leader has.
std::int32_t lws_size(const api::Object& leader);

}  // namespace muster::controllers
