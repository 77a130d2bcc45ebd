#include "api/schema/tables.h"

// storage.k8s.io/v1: classes of storage, and what drivers say of themselves. tables.h explains the
// notation.
namespace muster::api::schema {

const Table kStorage{"storage/v1", R"(
CSIDriver object -- A storage driver, and what it expects of its surroundings.
  1  metadata  meta.ObjectMeta  always
  2  spec      CSIDriverSpec    required always

CSIDriverList object
  1  metadata  meta.ListMeta  always
  2  items     []CSIDriver    required

CSIDriverSpec
   1  attachRequired                      *bool           default=true
   2  podInfoOnMount                      *bool           default=false
   3  volumeLifecycleModes                []string        list=set
   4  storageCapacity                     *bool           default=false
      -- Whether the scheduler asks for free capacity before it places a pod.
   5  fsGroupPolicy                       *string         default="ReadWriteOnceWithFSType"
   6  tokenRequests                       []TokenRequest
   7  requiresRepublish                   *bool           default=false
   8  seLinuxMount                        *bool           default=false
   9  nodeAllocatableUpdatePeriodSeconds  *int64
  10  serviceAccountTokenInSecrets        *bool
  11  preventPodSchedulingIfMissing       *bool
      -- Whether pods that need the driver stay off nodes that lack it.

CSINode object -- The storage drivers of one node.
  1  metadata  meta.ObjectMeta  always
  2  spec      CSINodeSpec      required always
  3  status    CSINodeStatus    always

CSINodeDriver
  1  name          string                required always
  2  nodeID        string                required always
     -- How the driver calls the node.
  3  topologyKeys  []string
  4  allocatable   *VolumeNodeResources

CSINodeList object
  1  metadata  meta.ListMeta  always
  2  items     []CSINode      required

CSINodeSpec
  1  drivers  []CSINodeDriver  required merge=name list=name

CSINodeStatus
  1  storageHealth  []StorageHealth  merge=name list=name

CSIStorageCapacity object -- How much a driver can still provide, somewhere.
  1  metadata           meta.ObjectMeta      always
  2  nodeTopology       *meta.LabelSelector  atomic
     -- The nodes that can reach this storage.
  3  storageClassName   string               required always
  4  capacity           *Quantity
  5  maximumVolumeSize  *Quantity

CSIStorageCapacityList object
  1  metadata  meta.ListMeta         always
  2  items     []CSIStorageCapacity  required

StorageClass object -- A kind of storage to ask for by name.
  1  metadata              meta.ObjectMeta              always
  2  provisioner           string                       required always
     -- Who makes volumes of this class.
  3  parameters            {}string
  4  reclaimPolicy         *string                      allowed=Delete|Recycle|Retain default="Delete"
  5  mountOptions          []string
  6  allowVolumeExpansion  *bool
  7  volumeBindingMode     *string                      allowed=Immediate|WaitForFirstConsumer default="Immediate"
     -- Whether volumes are chosen at once, or when the first pod is placed.
  8  allowedTopologies     []core.TopologySelectorTerm

StorageClassList object
  1  metadata  meta.ListMeta   always
  2  items     []StorageClass  required

StorageHealth
  1  name              string                    required always
  2  healthConditions  []StorageHealthCondition

StorageHealthCondition
  1  status              string   required always
  2  reason              string   required always
  3  message             string
  4  accessMode          *string
  5  volumeMode          *string
  6  lastTransitionTime  Time

TokenRequest
  1  audience           string  always
  2  expirationSeconds  *int64

VolumeAttachment object -- The wish that a volume be attached to a node.
  1  metadata  meta.ObjectMeta         always
  2  spec      VolumeAttachmentSpec    required always
  3  status    VolumeAttachmentStatus  always

VolumeAttachmentList object
  1  metadata  meta.ListMeta       always
  2  items     []VolumeAttachment  required

VolumeAttachmentSource
  1  persistentVolumeName  *string
  2  inlineVolumeSpec      *core.PersistentVolumeSpec

VolumeAttachmentSpec
  1  attacher  string                  required always
  2  source    VolumeAttachmentSource  required always
  3  nodeName  string                  required always

VolumeAttachmentStatus
  1  attached            bool          always
  2  attachmentMetadata  {}string
  3  attachError         *VolumeError
  4  detachError         *VolumeError

VolumeAttributesClass object -- A set of mutable properties of volumes, by name.
  1  metadata    meta.ObjectMeta  always
  2  driverName  string           required always
  3  parameters  {}string

VolumeAttributesClassList object
  1  metadata  meta.ListMeta            always
  2  items     []VolumeAttributesClass  required

VolumeError
  1  time       Time
  2  message    string
  3  errorCode  *int32

VolumeNodeResources
  1  count  *int32
     -- How many volumes of the driver fit on the node; unset means any number.
)"};

}  // namespace muster::api::schema
