#include "api/schema/tables.h"

// core/v1: pods and what they are made of. tables.h explains the notation.
namespace muster::api::schema {

const Table kPods{"core/v1", R"(
Affinity
  1  nodeAffinity     *NodeAffinity
     -- Which nodes the pod may or would rather run on.
  2  podAffinity      *PodAffinity
     -- Which pods it wants to be near.
  3  podAntiAffinity  *PodAntiAffinity
     -- Which pods it wants to be far from.

AppArmorProfile
  1  type              string   required always allowed=Localhost|RuntimeDefault|Unconfined
  2  localhostProfile  *string

Capabilities
  1  add   []string
  2  drop  []string

ConfigMapEnvSource
  1  localObjectReference  LocalObjectReference  inline
  2  optional              *bool

ConfigMapKeySelector
  1  localObjectReference  LocalObjectReference  inline
  2  key                   string                required always
  3  optional              *bool

Container -- A program to run in the pod.
   1  name                      string                   required always
      -- Unique in the pod.
   2  image                     string
      -- The image to run.
   3  command                   []string
      -- Replaces the entry point of the image.
   4  args                      []string
      -- Arguments of the entry point.
   5  workingDir                string
   6  ports                     []ContainerPort          merge=containerPort list=containerPort,protocol
      -- Ports the container listens on.
   7  env                       []EnvVar                 merge=name list=name
      -- Variables of the environment.
   8  resources                 ResourceRequirements     always
      -- What the container needs and what it may use.
   9  volumeMounts              []VolumeMount            merge=mountPath list=mountPath
      -- Where volumes appear in its file system.
  10  livenessProbe             *Probe
      -- The container is restarted when this fails.
  11  readinessProbe            *Probe
      -- The pod takes no traffic while this fails.
  12  lifecycle                 *Lifecycle
  13  terminationMessagePath    string                   default="/dev/termination-log"
  14  imagePullPolicy           string                   allowed=Always|IfNotPresent|Never
      -- When the image is fetched.
  15  securityContext           *SecurityContext
  16  stdin                     bool
  17  stdinOnce                 bool
  18  tty                       bool
  19  envFrom                   []EnvFromSource
  20  terminationMessagePolicy  string                   allowed=FallbackToLogsOnError|File default="File"
  21  volumeDevices             []VolumeDevice           merge=devicePath list=devicePath
  22  startupProbe              *Probe
      -- Other probes wait until this succeeds.
  23  resizePolicy              []ContainerResizePolicy
  24  restartPolicy             *string
  25  restartPolicyRules        []ContainerRestartRule

ContainerExtendedResourceRequest
  1  containerName  string  required always
  2  resourceName   string  required always
  3  requestName    string  required always

ContainerPort
  1  name           string
  2  hostPort       int32
     -- The port on the node; at most one pod per node can have it.
  3  containerPort  int32   required always
     -- The port inside the pod.
  4  protocol       string  allowed=SCTP|TCP|UDP default="TCP"
     -- TCP, UDP or SCTP.
  5  hostIP         string

ContainerResizePolicy
  1  resourceName   string  required always
  2  restartPolicy  string  required always

ContainerRestartRule
  1  action     string                            required
  2  exitCodes  *ContainerRestartRuleOnExitCodes

ContainerRestartRuleOnExitCodes
  1  operator  string   required
  2  values    []int32  list=set

ContainerState
  1  waiting     *ContainerStateWaiting
  2  running     *ContainerStateRunning
  3  terminated  *ContainerStateTerminated

ContainerStateRunning
  1  startedAt  Time  always

ContainerStateTerminated
  1  exitCode     int32   required always
  2  signal       int32
  3  reason       string
  4  message      string
  5  startedAt    Time    always
  6  finishedAt   Time    always
  7  containerID  string

ContainerStateWaiting
  1  reason   string
  2  message  string

ContainerStatus
   1  name                      string                 required always
   2  state                     ContainerState         always
   3  lastState                 ContainerState         always
   4  ready                     bool                   required always
   5  restartCount              int32                  required always
   6  image                     string                 required always
   7  imageID                   string                 required always
   8  containerID               string
   9  started                   *bool
  10  allocatedResources        {}Quantity
  11  resources                 *ResourceRequirements
  12  volumeMounts              []VolumeMountStatus    merge=mountPath list=mountPath
  13  user                      *ContainerUser
  14  allocatedResourcesStatus  []ResourceStatus       merge=name list=name
  15  stopSignal                *string

ContainerUser
  1  linux  *LinuxContainerUser

EnvFromSource
  1  prefix        string
  2  configMapRef  *ConfigMapEnvSource
  3  secretRef     *SecretEnvSource

EnvVar
  1  name       string         required always
  2  value      string
  3  valueFrom  *EnvVarSource

EnvVarSource
  1  fieldRef          *ObjectFieldSelector    atomic
  2  resourceFieldRef  *ResourceFieldSelector  atomic
  3  configMapKeyRef   *ConfigMapKeySelector   atomic
  4  secretKeyRef      *SecretKeySelector      atomic
  5  fileKeyRef        *FileKeySelector        atomic

EphemeralContainer
  1  ephemeralContainerCommon  EphemeralContainerCommon  inline
  2  targetContainerName       string

EphemeralContainerCommon
   1  name                      string                   required always
   2  image                     string
   3  command                   []string
   4  args                      []string
   5  workingDir                string
   6  ports                     []ContainerPort          merge=containerPort
   7  env                       []EnvVar                 merge=name
   8  resources                 ResourceRequirements     always
   9  volumeMounts              []VolumeMount            merge=mountPath
  10  livenessProbe             *Probe
  11  readinessProbe            *Probe
  12  lifecycle                 *Lifecycle
  13  terminationMessagePath    string                   default="/dev/termination-log"
  14  imagePullPolicy           string                   allowed=Always|IfNotPresent|Never
  15  securityContext           *SecurityContext
  16  stdin                     bool
  17  stdinOnce                 bool
  18  tty                       bool
  19  envFrom                   []EnvFromSource
  20  terminationMessagePolicy  string                   allowed=FallbackToLogsOnError|File default="File"
  21  volumeDevices             []VolumeDevice           merge=devicePath
  22  startupProbe              *Probe
  23  resizePolicy              []ContainerResizePolicy
  24  restartPolicy             *string
  25  restartPolicyRules        []ContainerRestartRule

EvictionResponder
  1  name      string  required always
  2  priority  *int32  required

ExecAction
  1  command  []string

FileKeySelector
  1  volumeName  string  required always
  2  path        string  required always
  3  key         string  required always
  4  optional    *bool   default=false

GRPCAction
  1  port     int32    required always
  2  service  *string  default=""
  3  mode     *string  allowed=Plaintext|TLS

HTTPGetAction
  1  path         string        default="/"
  2  port         IntOrString   required always
  3  host         string
  4  scheme       string        allowed=HTTP|HTTPS default="HTTP"
  5  httpHeaders  []HTTPHeader
  6  protocol     *string       allowed=HTTP1|HTTP2

HTTPHeader
  1  name   string  required always
  2  value  string  required always

HostAlias
  1  ip         string    required always
  2  hostnames  []string

HostIP
  1  ip  string  required always

ImageVolumeStatus
  1  imageRef  string  required

Lifecycle
  1  postStart   *LifecycleHandler
  2  preStop     *LifecycleHandler
  3  stopSignal  *string

LifecycleHandler
  1  exec       *ExecAction
  2  httpGet    *HTTPGetAction
  3  tcpSocket  *TCPSocketAction
  4  sleep      *SleepAction

LinuxContainerUser
  1  uid                 int64    required always
  2  gid                 int64    required always
  3  supplementalGroups  []int64

NodeAffinity
  1  requiredDuringSchedulingIgnoredDuringExecution   *NodeSelector              atomic
     -- Nodes that do not match are out of the question.
  2  preferredDuringSchedulingIgnoredDuringExecution  []PreferredSchedulingTerm
     -- Nodes that match are liked better, by weight.

NodeSelector -- Matches a node if any of its terms does.
  1  nodeSelectorTerms  []NodeSelectorTerm  required

NodeSelectorRequirement
  1  key       string    required always
  2  operator  string    required always allowed=DoesNotExist|Exists|Gt|In|Lt|NotIn
  3  values    []string

NodeSelectorTerm -- Matches a node if all of its requirements do; an empty term matches none.
  1  matchExpressions  []NodeSelectorRequirement
  2  matchFields       []NodeSelectorRequirement

ObjectFieldSelector
  1  apiVersion  string  default="v1"
  2  fieldPath   string  required always

Pod object -- A group of containers that run together on one node.
  1  metadata  meta.ObjectMeta  always
  2  spec      PodSpec          always
     -- What should run, and where it may.
  3  status    PodStatus        always
     -- What is known to run.

PodAffinity
  1  requiredDuringSchedulingIgnoredDuringExecution   []PodAffinityTerm
  2  preferredDuringSchedulingIgnoredDuringExecution  []WeightedPodAffinityTerm

PodAffinityTerm -- Pods, and the kind of domain in which they count as near.
  1  labelSelector      *meta.LabelSelector  atomic
     -- Which pods.
  2  namespaces         []string
     -- Namespaces to look in, by name.
  3  topologyKey        string               required always
     -- Nodes with equal values of this label are one domain.
  4  namespaceSelector  *meta.LabelSelector  atomic
     -- Namespaces to look in, by label.
  5  matchLabelKeys     []string
  6  mismatchLabelKeys  []string

PodAntiAffinity
  1  requiredDuringSchedulingIgnoredDuringExecution   []PodAffinityTerm
  2  preferredDuringSchedulingIgnoredDuringExecution  []WeightedPodAffinityTerm

PodCondition
  1  type                string  required always
     -- What is observed, for example PodScheduled.
  2  status              string  required always
     -- True, False or Unknown.
  3  lastProbeTime       Time    always
  4  lastTransitionTime  Time    always
  5  reason              string
  6  message             string
  7  observedGeneration  int64

PodDNSConfig
  1  nameservers  []string
  2  searches     []string
  3  options      []PodDNSConfigOption

PodDNSConfigOption
  1  name   string
  2  value  *string

PodExtendedResourceClaimStatus
  1  requestMappings    []ContainerExtendedResourceRequest  required
  2  resourceClaimName  string                              required always

PodIP
  1  ip  string  required always

PodList object
  1  metadata  meta.ListMeta  always
  2  items     []Pod          required

PodOS
  1  name  string  required always

PodReadinessGate
  1  conditionType  string  required always

PodResourceClaim
  1  name                       string   required always
  3  resourceClaimName          *string
  4  resourceClaimTemplateName  *string

PodResourceClaimStatus
  1  name               string   required always
  2  resourceClaimName  *string

PodSchedulingGate -- A reason not to schedule the pod yet.
  1  name  string  required always

PodSchedulingGroup -- Names the group a pod belongs to.
  1  podGroupName  *string
     -- A PodGroup in the same namespace.

PodSecurityContext
   1  seLinuxOptions            *SELinuxOptions
   2  runAsUser                 *int64
   3  runAsNonRoot              *bool
   4  supplementalGroups        []int64
   5  fsGroup                   *int64
   6  runAsGroup                *int64
   7  sysctls                   []Sysctl
   8  windowsOptions            *WindowsSecurityContextOptions
   9  fsGroupChangePolicy       *string                         allowed=Always|OnRootMismatch
  10  seccompProfile            *SeccompProfile
  11  appArmorProfile           *AppArmorProfile
  12  supplementalGroupsPolicy  *string                         allowed=Merge|Strict
  13  seLinuxChangePolicy       *string

PodSpec -- What a pod should be.
   1  volumes                        []Volume                    merge=name retainKeys list=name
      -- Storage that the containers can mount.
   2  containers                     []Container                 required merge=name list=name
      -- The containers of the pod; at least one.
   3  restartPolicy                  string                      allowed=Always|Never|OnFailure default="Always"
      -- Whether containers that ended are started again.
   4  terminationGracePeriodSeconds  *int64                      default=30
      -- Seconds between asking the containers to stop and stopping them.
   5  activeDeadlineSeconds          *int64
      -- Seconds after which the pod is failed.
   6  dnsPolicy                      string                      allowed=ClusterFirst|ClusterFirstWithHostNet|Default|None default="ClusterFirst"
      -- How names are resolved inside the pod.
   7  nodeSelector                   {}string                    atomic
      -- Labels a node must carry for the pod to run there.
   8  serviceAccountName             string
      -- The account the pod acts as.
   9  serviceAccount                 string
  10  nodeName                       string
      -- The node the pod is bound to; set by the scheduler.
  11  hostNetwork                    bool
      -- True to share the network of the node.
  12  hostPID                        bool
  13  hostIPC                        bool
  14  securityContext                *PodSecurityContext         default={}
      -- Security settings for all containers.
  15  imagePullSecrets               []LocalObjectReference      merge=name list=name
      -- Secrets used to fetch images.
  16  hostname                       string
  17  subdomain                      string
  18  affinity                       *Affinity
      -- Rules that draw the pod to nodes and to other pods, or keep it away.
  19  schedulerName                  string                      default="default-scheduler"
      -- The scheduler that places this pod.
  20  initContainers                 []Container                 merge=name list=name
      -- Containers that run to completion, one by one, before the others start.
  21  automountServiceAccountToken   *bool
  22  tolerations                    []Toleration
      -- Taints that do not keep the pod away.
  23  hostAliases                    []HostAlias                 merge=ip list=ip
  24  priorityClassName              string
      -- The class that gives the pod its priority.
  25  priority                       *int32
      -- The higher, the more important; filled in from the class.
  26  dnsConfig                      *PodDNSConfig
  27  shareProcessNamespace          *bool
  28  readinessGates                 []PodReadinessGate
  29  runtimeClassName               *string
  30  enableServiceLinks             *bool                       default=true
  31  preemptionPolicy               *string                     allowed=Never|PreemptLowerPriority
      -- Whether the pod may push out less important ones.
  32  overhead                       {}Quantity
      -- Resources that running the pod costs beyond its containers.
  33  topologySpreadConstraints      []TopologySpreadConstraint  merge=topologyKey list=topologyKey,whenUnsatisfiable
      -- How evenly pods are to be spread over domains.
  34  ephemeralContainers            []EphemeralContainer        merge=name list=name
      -- Containers added to a running pod, for debugging.
  35  setHostnameAsFQDN              *bool
  36  os                             *PodOS
      -- The operating system the pod is made for.
  37  hostUsers                      *bool
  38  schedulingGates                []PodSchedulingGate         merge=name list=name
      -- The pod is not scheduled while any of these is left.
  39  resourceClaims                 []PodResourceClaim          merge=name retainKeys list=name
      -- Claims on devices that containers can use.
  40  resources                      *ResourceRequirements
      -- Resources for the pod as a whole.
  41  hostnameOverride               *string
  43  schedulingGroup                *PodSchedulingGroup
      -- The group the pod is scheduled with.
  44  evictionResponders             []EvictionResponder         merge=name list=name

PodStatus -- What is known about a pod; may lag behind.
   1  phase                                 string                                allowed=Failed|Pending|Running|Succeeded|Unknown
      -- Pending, Running, Succeeded, Failed or Unknown.
   2  conditions                            []PodCondition                        merge=type list=type
      -- Observations such as PodScheduled and Ready.
   3  message                               string
      -- Why the pod is in this state, for people.
   4  reason                                string
      -- Why the pod is in this state, for programs.
   5  hostIP                                string
      -- The address of its node.
   6  podIP                                 string
      -- The address of the pod.
   7  startTime                             *Time
      -- When the node accepted the pod.
   8  containerStatuses                     []ContainerStatus
      -- One entry for each container.
   9  qosClass                              string                                allowed=BestEffort|Burstable|Guaranteed
      -- How the pod fares when the node runs short.
  10  initContainerStatuses                 []ContainerStatus
  11  nominatedNodeName                     string
      -- The node where room is being made for the pod.
  12  podIPs                                []PodIP                               merge=ip list=ip
  13  ephemeralContainerStatuses            []ContainerStatus
  14  resize                                string
  15  resourceClaimStatuses                 []PodResourceClaimStatus              merge=name retainKeys list=name
  16  hostIPs                               []HostIP                              merge=ip
  17  observedGeneration                    int64
  18  extendedResourceClaimStatus           *PodExtendedResourceClaimStatus
  19  allocatedResources                    {}Quantity
  20  resources                             *ResourceRequirements
  21  nodeAllocatableResourceClaimStatuses  []NodeAllocatableResourceClaimStatus  merge=resourceClaimName list=resourceClaimName
  22  volumeHealth                          []PodVolumeHealth                     list=name

PodTemplateSpec
  1  metadata  meta.ObjectMeta  always
  2  spec      PodSpec          always

PodVolumeHealth
  1  name                string                   required always
  2  healthConditions    []VolumeHealthCondition  merge=status list=status,reason
  3  lastTransitionTime  Time                     always

PreferredSchedulingTerm
  1  weight      int32             required always
  2  preference  NodeSelectorTerm  required always atomic

Probe
  1  handler                        ProbeHandler  inline
  2  initialDelaySeconds            int32
  3  timeoutSeconds                 int32         default=1
  4  periodSeconds                  int32         default=10
  5  successThreshold               int32         default=1
  6  failureThreshold               int32         default=3
  7  terminationGracePeriodSeconds  *int64

ProbeHandler
  1  exec       *ExecAction
  2  httpGet    *HTTPGetAction
  3  tcpSocket  *TCPSocketAction
  4  grpc       *GRPCAction

ResourceClaim
  1  name     string  required always
  2  request  string

ResourceFieldSelector
  1  containerName  string
  2  resource       string    required always
  3  divisor        Quantity  always

ResourceHealth
  1  resourceID  string   required always
  2  health      string
  6  message     *string

ResourceRequirements -- What is needed and what may be used.
  1  limits    {}Quantity
     -- The most that may be used.
  2  requests  {}Quantity
     -- What is set aside; what the scheduler counts.
  3  claims    []ResourceClaim  list=name
     -- Devices from the claims of the pod.

ResourceStatus
  1  name       string            required always
  2  resources  []ResourceHealth  list=resourceID

SELinuxOptions
  1  user   string
  2  role   string
  3  type   string
  4  level  string

SeccompProfile
  1  type              string   required always allowed=Localhost|RuntimeDefault|Unconfined
  2  localhostProfile  *string

SecretEnvSource
  1  localObjectReference  LocalObjectReference  inline
  2  optional              *bool

SecretKeySelector
  1  localObjectReference  LocalObjectReference  inline
  2  key                   string                required always
  3  optional              *bool

SecurityContext
   1  capabilities              *Capabilities
   2  privileged                *bool
   3  seLinuxOptions            *SELinuxOptions
   4  runAsUser                 *int64
   5  runAsNonRoot              *bool
   6  readOnlyRootFilesystem    *bool
   7  allowPrivilegeEscalation  *bool
   8  runAsGroup                *int64
   9  procMount                 *string                         allowed=Default|Unmasked
  10  windowsOptions            *WindowsSecurityContextOptions
  11  seccompProfile            *SeccompProfile
  12  appArmorProfile           *AppArmorProfile

SleepAction
  1  seconds  int64  required always

Sysctl
  1  name   string  required always
  2  value  string  required always

TCPSocketAction
  1  port  IntOrString  required always
  2  host  string

Toleration -- Lets the pod stay where a taint would keep it away.
  1  key                string
     -- The taint key; empty with operator Exists tolerates everything.
  2  operator           string  allowed=Equal|Exists|Gt|Lt
     -- How the value is compared.
  3  value              string
  4  effect             string  allowed=NoExecute|NoSchedule|PreferNoSchedule
     -- The effect that is tolerated; empty for all.
  5  tolerationSeconds  *int64
     -- How long NoExecute is tolerated; unset means forever.

TopologySpreadConstraint
  1  maxSkew             int32                required always
     -- By how many pods domains may differ.
  2  topologyKey         string               required always
     -- Nodes with equal values of this label are one domain.
  3  whenUnsatisfiable   string               required always allowed=DoNotSchedule|ScheduleAnyway
     -- DoNotSchedule forbids a larger skew, ScheduleAnyway only dislikes it.
  4  labelSelector       *meta.LabelSelector  atomic
  5  minDomains          *int32
     -- Act as if there were at least so many domains.
  6  nodeAffinityPolicy  *string              allowed=Honor|Ignore
  7  nodeTaintsPolicy    *string              allowed=Honor|Ignore
  8  matchLabelKeys      []string

VolumeDevice
  1  name        string  required always
  2  devicePath  string  required always

VolumeMount
  1  name               string    required always
  2  readOnly           bool
  3  mountPath          string    required always
  4  subPath            string
  5  mountPropagation   *string   allowed=Bidirectional|HostToContainer|None
  6  subPathExpr        string
  7  recursiveReadOnly  *string
  8  bindMountOptions   []string  list=set

VolumeMountStatus
  1  name               string         required always
  2  mountPath          string         required always
  3  readOnly           bool
  4  recursiveReadOnly  *string
  5  volumeStatus       *VolumeStatus

WeightedPodAffinityTerm
  1  weight           int32            required always
  2  podAffinityTerm  PodAffinityTerm  required always

WindowsSecurityContextOptions
  1  gmsaCredentialSpecName  *string
  2  gmsaCredentialSpec      *string
  3  runAsUserName           *string
  4  hostProcess             *bool
)"};

}  // namespace muster::api::schema
