#include "api/schema/tables.h"

// resource.k8s.io/v1: claims on devices. tables.h explains the notation.
namespace muster::api::schema {

const Table kResource{"resource/v1", R"(
AllocatedDeviceStatus
  1  driver       string              required always
  2  pool         string              required always
  3  device       string              required always
  4  conditions   []meta.Condition    list=type
  5  data         *Any
  6  networkData  *NetworkDeviceData
  7  shareID      *string

AllocationResult
  1  devices              DeviceAllocationResult  always
  3  nodeSelector         *core.NodeSelector      atomic
  5  allocationTimestamp  *Time

CELDeviceSelector
  1  expression  string  required always

CapacityRequestPolicy
  1  default      *Quantity
  3  validValues  []Quantity
  4  validRange   *CapacityRequestPolicyRange

CapacityRequestPolicyRange
  1  min   *Quantity  required
  2  max   *Quantity
  3  step  *Quantity

CapacityRequirements
  1  requests  {}Quantity

Counter
  1  value  Quantity  required always

CounterSet
  1  name      string     required always
  2  counters  {}Counter  required

Device
   1  name                      string                      required always
   2  attributes                {}DeviceAttribute
   3  capacity                  {}DeviceCapacity
   4  consumesCounters          []DeviceCounterConsumption
   5  nodeName                  *string
   6  nodeSelector              *core.NodeSelector          atomic
   7  allNodes                  *bool
   8  taints                    []DeviceTaint
   9  bindsToNode               *bool
  10  bindingConditions         []string
  11  bindingFailureConditions  []string
  12  allowMultipleAllocations  *bool
  14  nodeAllocatableResources  {}NodeAllocatableResource

DeviceAllocationConfiguration
  1  source               string               required always allowed=FromClaim|FromClass
  2  requests             []string
  3  deviceConfiguration  DeviceConfiguration  inline

DeviceAllocationResult
  1  results  []DeviceRequestAllocationResult
  2  config   []DeviceAllocationConfiguration

DeviceAttribute
  2  int       *int64
  3  bool      *bool
  4  string    *string
  5  version   *string
  6  ints      []int64
  7  bools     []bool
  8  strings   []string
  9  versions  []string

DeviceCapacity
  1  value          Quantity                required always
  2  requestPolicy  *CapacityRequestPolicy

DeviceClaim
  1  requests     []DeviceRequest
  2  constraints  []DeviceConstraint
  3  config       []DeviceClaimConfiguration

DeviceClaimConfiguration
  1  requests             []string
  2  deviceConfiguration  DeviceConfiguration  inline

DeviceClass object
  1  metadata  meta.ObjectMeta  always
  2  spec      DeviceClassSpec  always

DeviceClassConfiguration
  1  deviceConfiguration  DeviceConfiguration  inline

DeviceClassList object
  1  metadata  meta.ListMeta  always
  2  items     []DeviceClass  required

DeviceClassSpec
  1  selectors             []DeviceSelector
  2  config                []DeviceClassConfiguration
  4  extendedResourceName  *string

DeviceConfiguration
  1  opaque  *OpaqueDeviceConfiguration

DeviceConstraint
  1  requests           []string
  2  matchAttribute     *string
  3  distinctAttribute  *string

DeviceCounterConsumption
  1  counterSet           string     required always
  2  counters             {}Counter  required
  3  compatibilityGroups  []string

DeviceDerivedAttribute
  1  name        string  required always
  2  expression  string  required always

DeviceRequest
  1  name            string               required always
  2  exactly         *ExactDeviceRequest
  3  firstAvailable  []DeviceSubRequest

DeviceRequestAllocationResult
   1  request                   string              required always
   2  driver                    string              required always
   3  pool                      string              required always
   4  device                    string              required always
   5  adminAccess               *bool
   6  tolerations               []DeviceToleration
   7  bindingConditions         []string
   8  bindingFailureConditions  []string
   9  shareID                   *string
  10  consumedCapacity          {}Quantity
  11  skipNodeOperations        []string            list=set

DeviceSelector
  1  cel  *CELDeviceSelector

DeviceSubRequest
  1  name               string                    required always
  2  deviceClassName    string                    required always
  3  selectors          []DeviceSelector
  4  allocationMode     string                    default="ExactCount"
  5  count              int64
  6  tolerations        []DeviceToleration
  7  capacity           *CapacityRequirements
  8  derivedAttributes  []DeviceDerivedAttribute

DeviceTaint
  1  key        string  required always
  2  value      string
  3  effect     string  required always allowed=NoExecute|NoSchedule|None
  4  timeAdded  *Time

DeviceTaintRule object -- Taints devices from the outside.
  1  metadata  meta.ObjectMeta        always
  2  spec      DeviceTaintRuleSpec    required always
  3  status    DeviceTaintRuleStatus  always

DeviceTaintRuleList object
  1  metadata  meta.ListMeta      always
  2  items     []DeviceTaintRule  required

DeviceTaintRuleSpec
  1  deviceSelector  *DeviceTaintSelector
  2  taint           DeviceTaint           required always

DeviceTaintRuleStatus
  1  conditions  []meta.Condition  merge=type list=type

DeviceTaintSelector
  2  driver  *string
  3  pool    *string
  4  device  *string

DeviceToleration
  1  key                string
  2  operator           string  allowed=Equal|Exists default="Equal"
  3  value              string
  4  effect             string  allowed=NoExecute|NoSchedule|None
  5  tolerationSeconds  *int64

ExactDeviceRequest
  1  deviceClassName    string                    required always
  2  selectors          []DeviceSelector
  3  allocationMode     string                    default="ExactCount"
  4  count              int64
  5  adminAccess        *bool
  6  tolerations        []DeviceToleration
  7  capacity           *CapacityRequirements
  8  derivedAttributes  []DeviceDerivedAttribute

NetworkDeviceData
  1  interfaceName    string
  2  ips              []string
  3  hardwareAddress  string

NodeAllocatableMapping
  1  capacityKey         *string
  2  capacityMultiplier  *Quantity
  3  deviceMultiplier    *Quantity

NodeAllocatableOverhead
  1  perPod        *Quantity
  2  perContainer  *Quantity

NodeAllocatableResource
  3  mapping   *NodeAllocatableMapping
  4  overhead  *NodeAllocatableOverhead

OpaqueDeviceConfiguration
  1  driver      string  required always
  2  parameters  Any     required

ResourceClaim object
  1  metadata  meta.ObjectMeta      always
  2  spec      ResourceClaimSpec    always
  3  status    ResourceClaimStatus  always

ResourceClaimConsumerReference
  1  apiGroup  string
  3  resource  string  required always
  4  name      string  required always
  5  uid       string  required always

ResourceClaimList object
  1  metadata  meta.ListMeta    always
  2  items     []ResourceClaim  required

ResourceClaimSpec
  1  devices  DeviceClaim  always

ResourceClaimStatus
  1  allocation   *AllocationResult
  2  reservedFor  []ResourceClaimConsumerReference  merge=uid list=uid
  4  devices      []AllocatedDeviceStatus           list=driver,device,pool,shareID

ResourceClaimTemplate object
  1  metadata  meta.ObjectMeta            always
  2  spec      ResourceClaimTemplateSpec  always

ResourceClaimTemplateList object
  1  metadata  meta.ListMeta            always
  2  items     []ResourceClaimTemplate  required

ResourceClaimTemplateSpec
  1  metadata  meta.ObjectMeta    always
  2  spec      ResourceClaimSpec  always

ResourcePool
  1  name                string  required always
  2  generation          int64   required always
  3  resourceSliceCount  int64   required always

ResourceSlice object
  1  metadata  meta.ObjectMeta    always
  2  spec      ResourceSliceSpec  always

ResourceSliceList object
  1  metadata  meta.ListMeta    always
  2  items     []ResourceSlice  required

ResourceSliceSpec
   1  driver                  string              required always
   2  pool                    ResourcePool        required always
   3  nodeName                *string
   4  nodeSelector            *core.NodeSelector  atomic
   5  allNodes                *bool
   6  devices                 []Device
   7  perDeviceNodeSelection  *bool
   8  sharedCounters          []CounterSet
   9  partitionTypeAttribute  *string
  10  skipNodeOperations      []string            list=set
)"};

}  // namespace muster::api::schema
