#include "api/views/projection.h"

namespace muster::api {
namespace {

// Who manages which field, and what kubectl wrote down about its last apply, is often half of an
// object.
constexpr Kept kAnnotations[]{
    {.name = "kubectl.kubernetes.io/last-applied-configuration", .dropped = true}, {kTheOthers}};
constexpr Kept kMetadata[]{
    {.name = "managedFields", .dropped = true}, {"annotations", kAnnotations}, {kTheOthers}};
constexpr Kept kWithoutBookkeeping[]{{"metadata", kMetadata}, {kTheOthers}};

constexpr Kept kBindMount[]{{"bindMountOptions"}};
constexpr Kept kContainer[]{{"name"},
                            {"image"},
                            {"ports"},
                            {"resources"},
                            {"restartPolicy"},
                            {"restartPolicyRules"},
                            {"volumeMounts", kBindMount}};
constexpr Kept kClaimSource[]{{"claimName"}};
constexpr Kept kNothing[]{{"-"}};
constexpr Kept kVolume[]{{"name"},
                         {"image"},
                         {"gcePersistentDisk"},
                         {"awsElasticBlockStore"},
                         {"iscsi"},
                         {"rbd"},
                         {"persistentVolumeClaim", kClaimSource},
                         {"ephemeral", kNothing}};
constexpr Kept kPodSpec[]{{"nodeName"},
                          {"schedulerName"},
                          {"priority"},
                          {"preemptionPolicy"},
                          {"schedulingGates"},
                          {"schedulingGroup"},
                          {"affinity"},
                          {"tolerations"},
                          {"nodeSelector"},
                          {"topologySpreadConstraints"},
                          {"overhead"},
                          {"resources"},
                          {"resourceClaims"},
                          {"hostNetwork"},
                          {"hostUsers"},
                          {"terminationGracePeriodSeconds"},
                          {"volumes", kVolume},
                          {"containers", kContainer},
                          {"initContainers", kContainer}};
constexpr Kept kContainerStatus[]{{"name"}, {"allocatedResources"}, {"resources"}};
constexpr Kept kPodStatus[]{{"phase"},
                            {"startTime"},
                            {"nominatedNodeName"},
                            {"conditions"},
                            {"allocatedResources"},
                            {"resources"},
                            {"containerStatuses", kContainerStatus},
                            {"initContainerStatuses", kContainerStatus}};
constexpr Kept kPod[]{{"metadata", kMetadata}, {"spec", kPodSpec}, {"status", kPodStatus}};

constexpr Kept kNodeSpec[]{{"unschedulable"}, {"taints"}};
constexpr Kept kNodeStatus[]{{"allocatable"}, {"images"}, {"declaredFeatures"}, {"conditions"}};
constexpr Kept kNode[]{{"metadata", kMetadata}, {"spec", kNodeSpec}, {"status", kNodeStatus}};

// What makes pods: only whom they select matters.
constexpr Kept kOwnerSpec[]{{"selector"}};
constexpr Kept kOwner[]{{"metadata", kMetadata}, {"spec", kOwnerSpec}};

}  // namespace

std::span<const Kept> kept_by_scheduler(const Kind& kind) {
  if (&kind == &kinds::pod()) return kPod;
  if (&kind == &kinds::node()) return kNode;
  const bool is_owner =
      (kind.group == "apps" && (kind.kind == "ReplicaSet" || kind.kind == "StatefulSet")) ||
      (kind.group.empty() && kind.kind == "ReplicationController");
  return is_owner ? std::span<const Kept>(kOwner) : std::span<const Kept>(kWithoutBookkeeping);
}

std::span<const Kept> kept_by_controllers(const Kind& /*kind*/) { return kWithoutBookkeeping; }

}  // namespace muster::api
