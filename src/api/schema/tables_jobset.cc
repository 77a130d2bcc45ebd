#include "api/schema/tables.h"

// jobset.x-k8s.io/v1alpha2. Nobody sends these as protobuf, so their numbers are ours. `scheduling`
// is that of JobSet's KEP-969. tables.h explains the notation.
namespace muster::api::schema {

const Table kJobSet{"jobset/v1alpha2", R"(
Coordinator
  1  replicatedJob  string  required always
  2  jobIndex       int32
  3  podIndex       int32

DependsOn
  1  name    string  required always
  2  status  string  required always allowed=Complete|Ready

FailurePolicy
  1  maxRestarts      int32
     -- How often the set is started again before it fails.
  2  restartStrategy  string               allowed=BlockingRecreate|InPlaceRestart|Recreate default="Recreate"
  3  rules            []FailurePolicyRule
     -- What to do about a failed job; the first rule that matches counts.

FailurePolicyRule
  1  name                         string    always
  2  action                       string    required always allowed=FailJobSet|RestartJob|RestartJobAndIgnoreMaxRestarts|RestartJobSet|RestartJobSetAndIgnoreMaxRestarts
  3  onJobFailureReasons          []string
  4  onJobFailureMessagePatterns  []string
  5  targetReplicatedJobs         []string

GangSchedulingPolicy
  1  minCount       *int32
     -- How many pods must fit, where the group consists of pods.
  2  minGroupCount  *int32
     -- How many groups must fit, where the group consists of groups.

JobScheduling
  1  schedulingPolicy       *scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy
  2  schedulingConstraints  *scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints
  3  disruptionMode         *scheduling.v1alpha3.WorkloadPodGroupDisruptionMode
  4  resourceClaims         []scheduling.v1alpha3.WorkloadPodGroupResourceClaim         merge=name list=name

JobSet object -- Jobs that run, fail and restart together.
  1  metadata  meta.ObjectMeta  always
  2  spec      JobSetSpec       always
     -- What should run.
  3  status    JobSetStatus     always
     -- How far it has got.

JobSetList object
  1  metadata  meta.ListMeta  always
  2  items     []JobSet       required

JobSetScheduling -- What the set asks of a scheduler that places whole workloads.
  1  schedulingPolicy       *SchedulingPolicy
     -- For the set as a whole.
  2  schedulingConstraints  *scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingConstraints
  3  disruptionMode         *scheduling.v1alpha3.WorkloadCompositePodGroupDisruptionMode
  4  replicatedJobs         []ReplicatedJobScheduling
     -- For some of its jobs, by name.

JobSetSpec
   1  replicatedJobs           []ReplicatedJob      merge=name list=name
      -- The jobs, each in a number of copies.
   2  network                  *Network
   3  successPolicy            *SuccessPolicy
   4  failurePolicy            *FailurePolicy
   5  startupPolicy            *StartupPolicy
   6  suspend                  *bool
      -- While true, no pods run.
   7  coordinator              *Coordinator
   8  managedBy                *string
   9  ttlSecondsAfterFinished  *int32
      -- How long a finished set is kept.
  10  volumeClaimPolicies      []VolumeClaimPolicy
  11  scheduling               *JobSetScheduling

JobSetStatus
  1  conditions                     []meta.Condition       merge=type list=type
  2  restarts                       int32                  always
  3  restartsCountTowardsMax        int32
  4  terminalState                  string
  5  replicatedJobsStatus           []ReplicatedJobStatus  merge=name list=name
  6  previousInPlaceRestartAttempt  *int32
  7  currentInPlaceRestartAttempt   *int32

Network
  1  enableDNSHostnames        *bool
  2  subdomain                 string
  3  publishNotReadyAddresses  *bool

ReplicatedJob
  1  name       string                 required always
  2  groupName  string                 default="default"
  3  template   batch.JobTemplateSpec  required always
  4  replicas   *int32                 default=1
  5  dependsOn  []DependsOn            merge=name list=name

ReplicatedJobScheduling
  1  targetReplicatedJobs   []string
  2  schedulingPolicy       *SchedulingPolicy
  3  schedulingConstraints  *scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingConstraints
  4  disruptionMode         *scheduling.v1alpha3.WorkloadCompositePodGroupDisruptionMode
  5  resourceClaims         []scheduling.v1alpha3.WorkloadPodGroupResourceClaim                  merge=name list=name
  6  job                    *JobScheduling
     -- For each single job.

ReplicatedJobStatus
  1  name                        string   required always
  2  ready                       int32    always
  3  succeeded                   int32    always
  4  failed                      int32    always
  5  active                      int32    always
  6  suspended                   int32    always
  7  jobRestarts                 []int32
  8  jobRestartsCountTowardsMax  []int32

SchedulingPolicy
  1  basic  *scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy
  2  gang   *GangSchedulingPolicy

StartupPolicy
  1  startupPolicyOrder  string  required always allowed=AnyOrder|InOrder

SuccessPolicy
  1  operator              string    required always allowed=All|Any
  2  targetReplicatedJobs  []string

VolumeClaimPolicy
  1  templates        []core.PersistentVolumeClaim
  2  retentionPolicy  *VolumeRetentionPolicy

VolumeRetentionPolicy
  1  whenDeleted  *string  allowed=Delete|Retain default="Delete"
)"};

}  // namespace muster::api::schema
