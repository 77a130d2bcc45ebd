#include "api/schema/tables.h"

// leaderworkerset.x-k8s.io/v1. Nobody sends these as protobuf, so their numbers are ours.
// `scheduling` is that of LWS's KEP-666. tables.h explains the notation.
namespace muster::api::schema {

const Table kLeaderWorkerSet{"leaderworkerset/v1", R"(
LeaderWorkerSet object -- Groups of pods with one leader each, run as units.
  1  metadata  meta.ObjectMeta        always
  2  spec      LeaderWorkerSetSpec    always
     -- What should run.
  3  status    LeaderWorkerSetStatus  always
     -- How far it has got.

LeaderWorkerSetList object
  1  metadata  meta.ListMeta      always
  2  items     []LeaderWorkerSet  required

LeaderWorkerSetScheduling -- What the set asks of a scheduler that places whole workloads.
  1  schedulingPolicy       *scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingPolicy
     -- For all groups together.
  2  schedulingConstraints  *scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingConstraints
  3  disruptionMode         *scheduling.v1alpha3.WorkloadCompositePodGroupDisruptionMode
  4  replica                *ReplicaScheduling
     -- For each group.

LeaderWorkerSetSpec
  1  replicas              *int32                      default=1
     -- How many groups there are.
  2  leaderWorkerTemplate  LeaderWorkerTemplate        required always
     -- What a group consists of.
  3  rolloutStrategy       RolloutStrategy             always
  4  startupPolicy         string                      always allowed=LeaderCreated|LeaderReady default="LeaderCreated"
     -- Whether workers wait until their leader is ready.
  5  networkConfig         *NetworkConfig
  6  scheduling            *LeaderWorkerSetScheduling

LeaderWorkerSetStatus
  1  conditions          []meta.Condition  merge=type list=type
  2  readyReplicas       int32
  3  updatedReplicas     int32
  4  replicas            int32
  5  hpaPodSelector      string
  6  observedGeneration  int64

LeaderWorkerTemplate
  1  leaderTemplate                        *core.PodTemplateSpec
     -- The leader's pod; the workers' template if unset.
  2  workerTemplate                        core.PodTemplateSpec                                   required always
  3  size                                  *int32                                                 default=1
     -- How many pods a group has, the leader among them.
  4  restartPolicy                         string                                                 allowed=Default|None|RecreateGroupAfterStart|RecreateGroupOnPodRestart default="RecreateGroupOnPodRestart"
  5  subGroupPolicy                        *SubGroupPolicy
  6  volumeClaimTemplates                  []core.PersistentVolumeClaim
  7  persistentVolumeClaimRetentionPolicy  *apps.StatefulSetPersistentVolumeClaimRetentionPolicy

NetworkConfig
  1  subdomainPolicy  *string  required allowed=Shared|UniquePerReplica

ReplicaScheduling
  1  schedulingPolicy       *scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingPolicy
  2  schedulingConstraints  *scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingConstraints
  3  disruptionMode         *scheduling.v1alpha3.WorkloadCompositePodGroupDisruptionMode
  4  leader                 *RoleScheduling
  5  worker                 *RoleScheduling

RoleScheduling
  1  schedulingPolicy       *scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy
  2  schedulingConstraints  *scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints
  3  disruptionMode         *scheduling.v1alpha3.WorkloadPodGroupDisruptionMode
  4  resourceClaims         []scheduling.v1alpha3.WorkloadPodGroupResourceClaim         merge=name list=name

RollingUpdateConfiguration
  1  partition       *int32        default=0
  2  maxUnavailable  *IntOrString  default=1
  3  maxSurge        *IntOrString  default=0

RolloutStrategy
  1  type                        string                       always allowed=RollingUpdate default="RollingUpdate"
  2  rollingUpdateConfiguration  *RollingUpdateConfiguration

SubGroupPolicy
  1  subGroupPolicyType  *string  allowed=LeaderExcluded|LeaderWorker default="LeaderWorker"
  2  subGroupSize        *int32
)"};

}  // namespace muster::api::schema
