#include "api/schema/tables.h"

// batch/v1: jobs. tables.h explains the notation.
namespace muster::api::schema {

const Table kBatch{"batch/v1", R"(
CronJob object
  1  metadata  meta.ObjectMeta  always
  2  spec      CronJobSpec      always
  3  status    CronJobStatus    always

CronJobList object
  1  metadata  meta.ListMeta  always
  2  items     []CronJob      required

CronJobSpec
  1  schedule                    string           required always
  2  startingDeadlineSeconds     *int64
  3  concurrencyPolicy           string           allowed=Allow|Forbid|Replace default="Allow"
  4  suspend                     *bool            default=false
  5  jobTemplate                 JobTemplateSpec  required always
  6  successfulJobsHistoryLimit  *int32           default=3
  7  failedJobsHistoryLimit      *int32           default=1
  8  timeZone                    *string

CronJobStatus
  1  active              []core.ObjectReference
  4  lastScheduleTime    *Time
  5  lastSuccessfulTime  *Time

Job object
  1  metadata  meta.ObjectMeta  always
  2  spec      JobSpec          always
  3  status    JobStatus        always

JobCondition
  1  type                string  required always
  2  status              string  required always
  3  lastProbeTime       Time    always
  4  lastTransitionTime  Time    always
  5  reason              string
  6  message             string

JobList object
  1  metadata  meta.ListMeta  always
  2  items     []Job          required

JobSchedulingConfiguration
  1  schedulingPolicy       *scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy
  2  schedulingConstraints  *scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints
  3  disruptionMode         *scheduling.v1alpha3.WorkloadPodGroupDisruptionMode
  4  resourceClaims         []scheduling.v1alpha3.WorkloadPodGroupResourceClaim         merge=name list=name

JobSpec
   1  parallelism              *int32
   2  completions              *int32
   3  activeDeadlineSeconds    *int64
   4  selector                 *meta.LabelSelector          atomic
   5  manualSelector           *bool
   6  template                 core.PodTemplateSpec         required always
   7  backoffLimit             *int32
   8  ttlSecondsAfterFinished  *int32
   9  completionMode           *string                      allowed=Indexed|NonIndexed default="NonIndexed"
  10  suspend                  *bool                        default=false
  11  podFailurePolicy         *PodFailurePolicy
  12  backoffLimitPerIndex     *int32
  13  maxFailedIndexes         *int32
  14  podReplacementPolicy     *string                      allowed=Failed|TerminatingOrFailed
  15  managedBy                *string
  16  successPolicy            *SuccessPolicy
  17  scheduling               *JobSchedulingConfiguration

JobStatus
   1  conditions               []JobCondition            merge=type
   2  startTime                *Time
   3  completionTime           *Time
   4  active                   int32
   5  succeeded                int32
   6  failed                   int32
   7  completedIndexes         string
   8  uncountedTerminatedPods  *UncountedTerminatedPods
   9  ready                    *int32
  10  failedIndexes            *string
  11  terminating              *int32

JobTemplateSpec
  1  metadata  meta.ObjectMeta  always
  2  spec      JobSpec          always

PodFailurePolicy
  1  rules  []PodFailurePolicyRule  required

PodFailurePolicyOnExitCodesRequirement
  1  containerName  *string
  2  operator       string   required always allowed=In|NotIn
  3  values         []int32  required list=set

PodFailurePolicyOnPodConditionsPattern
  1  type    string  required always
  2  status  string  always default="True"

PodFailurePolicyRule
  1  action           string                                    required always allowed=Count|FailIndex|FailJob|Ignore
  2  onExitCodes      *PodFailurePolicyOnExitCodesRequirement
  3  onPodConditions  []PodFailurePolicyOnPodConditionsPattern

SuccessPolicy
  1  rules  []SuccessPolicyRule  required

SuccessPolicyRule
  1  succeededIndexes  *string
  2  succeededCount    *int32

UncountedTerminatedPods
  1  succeeded  []string  list=set
  2  failed     []string  list=set
)"};

}  // namespace muster::api::schema
