#include "api/schema/tables.h"

// apps/v1 and the scale subresource. tables.h explains the notation.
namespace muster::api::schema {

const Table kAppsV1{"apps/v1", R"(
ControllerRevision object
  1  metadata  meta.ObjectMeta  always
  2  data      Any              required
  3  revision  int64            always

ControllerRevisionList object
  1  metadata  meta.ListMeta         always
  2  items     []ControllerRevision  required

DaemonSet object
  1  metadata  meta.ObjectMeta  always
  2  spec      DaemonSetSpec    always
  3  status    DaemonSetStatus  always

DaemonSetCondition
  1  type                string  always
  2  status              string  always
  3  lastTransitionTime  Time    always
  4  reason              string
  5  message             string

DaemonSetList object
  1  metadata  meta.ListMeta  always
  2  items     []DaemonSet    required

DaemonSetSpec
  1  selector              *meta.LabelSelector      required atomic
  2  template              core.PodTemplateSpec     required always
  3  updateStrategy        DaemonSetUpdateStrategy  always
  4  minReadySeconds       int32
  6  revisionHistoryLimit  *int32                   default=10

DaemonSetStatus
   1  currentNumberScheduled  int32                 required always
   2  numberMisscheduled      int32                 required always
   3  desiredNumberScheduled  int32                 required always
   4  numberReady             int32                 required always
   5  observedGeneration      int64
   6  updatedNumberScheduled  int32
   7  numberAvailable         int32
   8  numberUnavailable       int32
   9  collisionCount          *int32
  10  conditions              []DaemonSetCondition  merge=type list=type

DaemonSetUpdateStrategy
  1  type           string                   allowed=OnDelete|RollingUpdate default="RollingUpdate"
  2  rollingUpdate  *RollingUpdateDaemonSet

Deployment object
  1  metadata  meta.ObjectMeta   always
  2  spec      DeploymentSpec    always
  3  status    DeploymentStatus  always

DeploymentCondition
  1  type                string  always
  2  status              string  always
  4  reason              string
  5  message             string
  6  lastUpdateTime      Time    always
  7  lastTransitionTime  Time    always

DeploymentList object
  1  metadata  meta.ListMeta  always
  2  items     []Deployment   required

DeploymentSpec
  1  replicas                 *int32                default=1
  2  selector                 *meta.LabelSelector   required atomic
  3  template                 core.PodTemplateSpec  required always
  4  strategy                 DeploymentStrategy    always retainKeys
  5  minReadySeconds          int32
  6  revisionHistoryLimit     *int32                default=10
  7  paused                   bool
  9  progressDeadlineSeconds  *int32                default=600

DeploymentStatus
  1  observedGeneration   int64
  2  replicas             int32
  3  updatedReplicas      int32
  4  availableReplicas    int32
  5  unavailableReplicas  int32
  6  conditions           []DeploymentCondition  merge=type list=type
  7  readyReplicas        int32
  8  collisionCount       *int32
  9  terminatingReplicas  *int32

DeploymentStrategy
  1  type           string                    allowed=Recreate|RollingUpdate default="RollingUpdate"
  2  rollingUpdate  *RollingUpdateDeployment

ReplicaSet object
  1  metadata  meta.ObjectMeta   always
  2  spec      ReplicaSetSpec    always
  3  status    ReplicaSetStatus  always

ReplicaSetCondition
  1  type                string  always
  2  status              string  always
  3  lastTransitionTime  Time    always
  4  reason              string
  5  message             string

ReplicaSetList object
  1  metadata  meta.ListMeta  always
  2  items     []ReplicaSet   required

ReplicaSetSpec
  1  replicas         *int32                default=1
  2  selector         *meta.LabelSelector   required atomic
  3  template         core.PodTemplateSpec  always
  4  minReadySeconds  int32

ReplicaSetStatus
  1  replicas              int32                  required always
  2  fullyLabeledReplicas  int32
  3  observedGeneration    int64
  4  readyReplicas         int32
  5  availableReplicas     int32
  6  conditions            []ReplicaSetCondition  merge=type list=type
  7  terminatingReplicas   *int32

RollingUpdateDaemonSet
  1  maxUnavailable  *IntOrString
  2  maxSurge        *IntOrString

RollingUpdateDeployment
  1  maxUnavailable  *IntOrString
  2  maxSurge        *IntOrString

RollingUpdateStatefulSetStrategy
  1  partition       *int32
  2  maxUnavailable  *IntOrString

StatefulSet object
  1  metadata  meta.ObjectMeta    always
  2  spec      StatefulSetSpec    always
  3  status    StatefulSetStatus  always

StatefulSetCondition
  1  type                string  always
  2  status              string  always
  3  lastTransitionTime  Time    always
  4  reason              string
  5  message             string

StatefulSetList object
  1  metadata  meta.ListMeta  always
  2  items     []StatefulSet  required

StatefulSetOrdinals
  1  start  int32  always

StatefulSetPersistentVolumeClaimRetentionPolicy
  1  whenDeleted  string  default="Retain"
  2  whenScaled   string  default="Retain"

StatefulSetSpec
   1  replicas                              *int32                                            default=1
   2  selector                              *meta.LabelSelector                               required atomic
   3  template                              core.PodTemplateSpec                              required always
   4  volumeClaimTemplates                  []core.PersistentVolumeClaim
   5  serviceName                           string                                            always
   6  podManagementPolicy                   string                                            allowed=OrderedReady|Parallel default="OrderedReady"
   7  updateStrategy                        StatefulSetUpdateStrategy                         always
   8  revisionHistoryLimit                  *int32                                            default=10
   9  minReadySeconds                       int32
  10  persistentVolumeClaimRetentionPolicy  *StatefulSetPersistentVolumeClaimRetentionPolicy  default={}
  11  ordinals                              *StatefulSetOrdinals

StatefulSetStatus
   1  observedGeneration  int64
   2  replicas            int32                   required always
   3  readyReplicas       int32
   4  currentReplicas     int32
   5  updatedReplicas     int32
   6  currentRevision     string
   7  updateRevision      string
   9  collisionCount      *int32
  10  conditions          []StatefulSetCondition  merge=type list=type
  11  availableReplicas   int32                   always

StatefulSetUpdateStrategy
  1  type           string                             allowed=OnDelete|Recreate|RollingUpdate default="RollingUpdate"
  2  rollingUpdate  *RollingUpdateStatefulSetStrategy
)"};

const Table kAutoscalingV1{"autoscaling/v1", R"(
Scale object
  1  metadata  meta.ObjectMeta  always
  2  spec      ScaleSpec        always
  3  status    ScaleStatus      always

ScaleSpec
  1  replicas  int32

ScaleStatus
  1  replicas  int32   required always
  2  selector  string
)"};

}  // namespace muster::api::schema
