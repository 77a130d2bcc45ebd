#include "api/schema/tables.h"

// core/v1: nodes. tables.h explains the notation.
namespace muster::api::schema {

const Table kNodes{"core/v1", R"(
AttachedVolume
  1  name        string  required always
  2  devicePath  string  required always

ConfigMapNodeConfigSource
  1  namespace         string  required always
  2  name              string  required always
  3  uid               string
  4  resourceVersion   string
  5  kubeletConfigKey  string  required always

ContainerImage
  1  names      []string
  2  sizeBytes  int64

DaemonEndpoint
  1  Port  int32  required always

Node object -- A machine that runs pods.
  1  metadata  meta.ObjectMeta  always
  2  spec      NodeSpec         always
     -- What the node should be.
  3  status    NodeStatus       always
     -- What is known about it.

NodeAddress
  1  type     string  required always
  2  address  string  required always

NodeAllocatableMappedResources
  1  name      string     required always
  2  quantity  *Quantity  required

NodeAllocatableOverheadResources
  1  name          string     required always
  2  perPod        *Quantity
  3  perContainer  *Quantity

NodeAllocatableResourceClaimStatus
  1  resourceClaimName  string                              required always
  2  containers         []string                            list=set
  4  mapping            []NodeAllocatableMappedResources    merge=name list=name
  5  overhead           []NodeAllocatableOverheadResources  merge=name list=name

NodeCondition
  1  type                string  required always
  2  status              string  required always
  3  lastHeartbeatTime   Time    always
  4  lastTransitionTime  Time    always
  5  reason              string
  6  message             string

NodeConfigSource
  2  configMap  *ConfigMapNodeConfigSource

NodeConfigStatus
  1  assigned       *NodeConfigSource
  2  active         *NodeConfigSource
  3  lastKnownGood  *NodeConfigSource
  4  error          string

NodeDaemonEndpoints
  1  kubeletEndpoint  DaemonEndpoint  always

NodeFeatures
  1  supplementalGroupsPolicy  *bool

NodeList object
  1  metadata  meta.ListMeta  always
  2  items     []Node         required

NodePodPreemptionPolicy
  1  disableResizePreemption  []string  list=set

NodeRuntimeHandler
  1  name      string                       always
  2  features  *NodeRuntimeHandlerFeatures

NodeRuntimeHandlerFeatures
  1  recursiveReadOnlyMounts  *bool
  2  userNamespaces           *bool

NodeSpec
  1  podCIDR              string
     -- The range of pod addresses on this node.
  2  externalID           string
  3  providerID           string
     -- How the cloud provider knows the node.
  4  unschedulable        bool
     -- True keeps new pods away.
  5  taints               []Taint
     -- Keep away pods that do not tolerate them.
  6  configSource         *NodeConfigSource
  7  podCIDRs             []string                  merge list=set
  8  podPreemptionPolicy  *NodePodPreemptionPolicy

NodeStatus
   1  capacity          {}Quantity
      -- What the node has.
   2  allocatable       {}Quantity
      -- What pods may use of it.
   3  phase             string                allowed=Pending|Running|Terminated
   4  conditions        []NodeCondition       merge=type list=type
      -- Observations such as Ready.
   5  addresses         []NodeAddress         merge=type list=type
      -- How the node can be reached.
   6  daemonEndpoints   NodeDaemonEndpoints   always
   7  nodeInfo          NodeSystemInfo        always
      -- Software and identity of the machine.
   8  images            []ContainerImage
      -- Images that are already there.
   9  volumesInUse      []string
  10  volumesAttached   []AttachedVolume
  11  config            *NodeConfigStatus
  12  runtimeHandlers   []NodeRuntimeHandler
  13  features          *NodeFeatures
  14  declaredFeatures  []string

NodeSwapStatus
  1  capacity  *int64

NodeSystemInfo
   1  machineID                string           required always
   2  systemUUID               string           required always
   3  bootID                   string           required always
   4  kernelVersion            string           required always
   5  osImage                  string           required always
   6  containerRuntimeVersion  string           required always
   7  kubeletVersion           string           required always
   8  kubeProxyVersion         string           required always
   9  operatingSystem          string           required always
  10  architecture             string           required always
  11  swap                     *NodeSwapStatus
  12  runningInUserNamespace   *bool

Taint -- Keeps away pods that do not tolerate it.
  1  key        string  required always
  2  value      string
  3  effect     string  required always allowed=NoExecute|NoSchedule|PreferNoSchedule
     -- NoSchedule, PreferNoSchedule or NoExecute.
  4  timeAdded  *Time
)"};

}  // namespace muster::api::schema
