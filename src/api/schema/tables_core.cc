#include "api/schema/tables.h"

// core/v1: everything else. tables.h explains the notation.
namespace muster::api::schema {

const Table kCore{"core/v1", R"(
Binding object -- Assigns a pod to a node.
  1  metadata  meta.ObjectMeta  always
  2  target    ObjectReference  required always
     -- The node.

ClientIPConfig
  1  timeoutSeconds  *int32

ConfigMap object
  1  metadata    meta.ObjectMeta  always
  2  data        {}string
  3  binaryData  {}bytes
  4  immutable   *bool

ConfigMapList object
  1  metadata  meta.ListMeta  always
  2  items     []ConfigMap    required

EndpointAddress
  1  ip         string            required always
  2  targetRef  *ObjectReference  atomic
  3  hostname   string
  4  nodeName   *string

EndpointPort
  1  name         string
  2  port         int32    required always
  3  protocol     string   allowed=SCTP|TCP|UDP default="TCP"
  4  appProtocol  *string

EndpointSubset
  1  addresses          []EndpointAddress
  2  notReadyAddresses  []EndpointAddress
  3  ports              []EndpointPort

Endpoints object
  1  metadata  meta.ObjectMeta   always
  2  subsets   []EndpointSubset

EndpointsList object
  1  metadata  meta.ListMeta  always
  2  items     []Endpoints    required

Event object -- Something that happened to an object.
   1  metadata            meta.ObjectMeta   always
   2  involvedObject      ObjectReference   required always atomic
      -- What the event is about.
   3  reason              string
      -- Why, as a word for programs.
   4  message             string
      -- What happened, as a sentence for people.
   5  source              EventSource       always
   6  firstTimestamp      Time              always
      -- When it happened first.
   7  lastTimestamp       Time              always
      -- When it happened last.
   8  count               int32
      -- How often it happened.
   9  type                string
      -- Normal or Warning.
  10  eventTime           MicroTime         always
  11  series              *EventSeries
  12  action              string
  13  related             *ObjectReference  atomic
  14  reportingComponent  string            always
      -- Who says so.
  15  reportingInstance   string            always
      -- Which copy of the reporter says so.

EventList object
  1  metadata  meta.ListMeta  always
  2  items     []Event        required

EventSeries
  1  count             int32
  2  lastObservedTime  MicroTime  always

EventSource
  1  component  string
  2  host       string

LimitRange object
  1  metadata  meta.ObjectMeta  always
  2  spec      LimitRangeSpec   always

LimitRangeItem
  1  type                  string      required always
  2  max                   {}Quantity
  3  min                   {}Quantity
  4  default               {}Quantity
  5  defaultRequest        {}Quantity
  6  maxLimitRequestRatio  {}Quantity

LimitRangeList object
  1  metadata  meta.ListMeta  always
  2  items     []LimitRange   required

LimitRangeSpec
  1  limits  []LimitRangeItem  required

LoadBalancerIngress
  1  ip        string
  2  hostname  string
  3  ipMode    *string
  4  ports     []PortStatus

LoadBalancerStatus
  1  ingress  []LoadBalancerIngress

LocalObjectReference
  1  name  string

Namespace object -- A room for names.
  1  metadata  meta.ObjectMeta  always
  2  spec      NamespaceSpec    always
     -- What the namespace should be.
  3  status    NamespaceStatus  always
     -- How far its life has got.

NamespaceCondition
  1  type                string  required always
  2  status              string  required always
  4  lastTransitionTime  Time    always
  5  reason              string
  6  message             string

NamespaceList object
  1  metadata  meta.ListMeta  always
  2  items     []Namespace    required

NamespaceSpec
  1  finalizers  []string
     -- Parties that must empty the namespace before it disappears.

NamespaceStatus
  1  phase       string                allowed=Active|Terminating default="Active"
     -- Active or Terminating.
  2  conditions  []NamespaceCondition  merge=type list=type

ObjectReference
  1  kind             string
  2  namespace        string
  3  name             string
  4  uid              string
  5  apiVersion       string
  6  resourceVersion  string
  7  fieldPath        string

PodTemplate object
  1  metadata  meta.ObjectMeta  always
  2  template  PodTemplateSpec  always

PodTemplateList object
  1  metadata  meta.ListMeta  always
  2  items     []PodTemplate  required

PortStatus
  1  port      int32    required always
  2  protocol  string   required always allowed=SCTP|TCP|UDP
  3  error     *string

ReplicationController object
  1  metadata  meta.ObjectMeta              always
  2  spec      ReplicationControllerSpec    always
  3  status    ReplicationControllerStatus  always

ReplicationControllerCondition
  1  type                string  required always
  2  status              string  required always
  3  lastTransitionTime  Time    always
  4  reason              string
  5  message             string

ReplicationControllerList object
  1  metadata  meta.ListMeta            always
  2  items     []ReplicationController  required

ReplicationControllerSpec
  1  replicas         *int32            default=1
  2  selector         {}string          atomic
  3  template         *PodTemplateSpec
  4  minReadySeconds  int32

ReplicationControllerStatus
  1  replicas              int32                             required always
  2  fullyLabeledReplicas  int32
  3  observedGeneration    int64
  4  readyReplicas         int32
  5  availableReplicas     int32
  6  conditions            []ReplicationControllerCondition  merge=type list=type

ResourceQuota object
  1  metadata  meta.ObjectMeta      always
  2  spec      ResourceQuotaSpec    always
  3  status    ResourceQuotaStatus  always

ResourceQuotaList object
  1  metadata  meta.ListMeta    always
  2  items     []ResourceQuota  required

ResourceQuotaSpec
  1  hard           {}Quantity
  2  scopes         []string
  3  scopeSelector  *ScopeSelector  atomic

ResourceQuotaStatus
  1  hard  {}Quantity
  2  used  {}Quantity

ScopeSelector
  1  matchExpressions  []ScopedResourceSelectorRequirement

ScopedResourceSelectorRequirement
  1  scopeName  string    required always allowed=BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass
  2  operator   string    required always allowed=DoesNotExist|Exists|In|NotIn
  3  values     []string

Secret object
  1  metadata    meta.ObjectMeta  always
  2  data        {}bytes
  3  type        string           default="Opaque"
  4  stringData  {}string
  5  immutable   *bool

SecretList object
  1  metadata  meta.ListMeta  always
  2  items     []Secret       required

Service object
  1  metadata  meta.ObjectMeta  always
  2  spec      ServiceSpec      always
  3  status    ServiceStatus    always

ServiceAccount object
  1  metadata                      meta.ObjectMeta         always
  2  secrets                       []ObjectReference       merge=name list=name
  3  imagePullSecrets              []LocalObjectReference
  4  automountServiceAccountToken  *bool

ServiceAccountList object
  1  metadata  meta.ListMeta     always
  2  items     []ServiceAccount  required

ServiceList object
  1  metadata  meta.ListMeta  always
  2  items     []Service      required

ServicePort
  1  name         string
  2  protocol     string       allowed=SCTP|TCP|UDP default="TCP"
  3  port         int32        required always
  4  targetPort   IntOrString  always
  5  nodePort     int32
  6  appProtocol  *string

ServiceSpec
   1  ports                          []ServicePort           merge=port list=port,protocol
   2  selector                       {}string                atomic
   3  clusterIP                      string
   4  type                           string                  allowed=ClusterIP|ExternalName|LoadBalancer|NodePort default="ClusterIP"
   5  externalIPs                    []string
   7  sessionAffinity                string                  allowed=ClientIP|None default="None"
   8  loadBalancerIP                 string
   9  loadBalancerSourceRanges       []string
  10  externalName                   string
  11  externalTrafficPolicy          string                  allowed=Cluster|Local
  12  healthCheckNodePort            int32
  13  publishNotReadyAddresses       bool
  14  sessionAffinityConfig          *SessionAffinityConfig
  17  ipFamilyPolicy                 *string                 allowed=PreferDualStack|RequireDualStack|SingleStack
  18  clusterIPs                     []string
  19  ipFamilies                     []string
  20  allocateLoadBalancerNodePorts  *bool
  21  loadBalancerClass              *string
  22  internalTrafficPolicy          *string                 allowed=Cluster|Local
  23  trafficDistribution            *string

ServiceStatus
  1  loadBalancer  LoadBalancerStatus  always
  2  conditions    []meta.Condition    merge=type list=type

SessionAffinityConfig
  1  clientIP  *ClientIPConfig

TopologySelectorLabelRequirement
  1  key     string    required always
  2  values  []string  required

TopologySelectorTerm
  1  matchLabelExpressions  []TopologySelectorLabelRequirement
)"};

}  // namespace muster::api::schema
