#include "api/schema/tables.h"

// core/v1: volumes, their sources and claims. tables.h explains the notation.
namespace muster::api::schema {

const Table kVolumes{"core/v1", R"(
AWSElasticBlockStoreVolumeSource
  1  volumeID   string  required always
  2  fsType     string
  3  partition  int32
  4  readOnly   bool

AzureDiskVolumeSource
  1  diskName     string   required always
  2  diskURI      string   required always
  3  cachingMode  *string  allowed=None|ReadOnly|ReadWrite default="ReadWrite"
  4  fsType       *string  default="ext4"
  5  readOnly     *bool    default=false
  6  kind         *string  allowed=Dedicated|Managed|Shared default="Shared"

AzureFilePersistentVolumeSource
  1  secretName       string   required always
  2  shareName        string   required always
  3  readOnly         bool
  4  secretNamespace  *string

AzureFileVolumeSource
  1  secretName  string  required always
  2  shareName   string  required always
  3  readOnly    bool

CSIPersistentVolumeSource
   1  driver                      string            required always
   2  volumeHandle                string            required always
   3  readOnly                    bool
   4  fsType                      string
   5  volumeAttributes            {}string
   6  controllerPublishSecretRef  *SecretReference  atomic
   7  nodeStageSecretRef          *SecretReference  atomic
   8  nodePublishSecretRef        *SecretReference  atomic
   9  controllerExpandSecretRef   *SecretReference  atomic
  10  nodeExpandSecretRef         *SecretReference  atomic

CSIVolumeSource
  1  driver                string                 required always
  2  readOnly              *bool
  3  fsType                *string
  4  volumeAttributes      {}string
  5  nodePublishSecretRef  *LocalObjectReference  atomic

CephFSPersistentVolumeSource
  1  monitors    []string          required
  2  path        string
  3  user        string
  4  secretFile  string
  5  secretRef   *SecretReference  atomic
  6  readOnly    bool

CephFSVolumeSource
  1  monitors    []string               required
  2  path        string
  3  user        string
  4  secretFile  string
  5  secretRef   *LocalObjectReference  atomic
  6  readOnly    bool

CinderPersistentVolumeSource
  1  volumeID   string            required always
  2  fsType     string
  3  readOnly   bool
  4  secretRef  *SecretReference  atomic

CinderVolumeSource
  1  volumeID   string                 required always
  2  fsType     string
  3  readOnly   bool
  4  secretRef  *LocalObjectReference  atomic

ClusterTrustBundleProjection
  1  name           *string
  2  signerName     *string
  3  labelSelector  *meta.LabelSelector  atomic
  4  path           string               required always
  5  optional       *bool
  6  user           *int64

ConfigMapProjection
  1  localObjectReference  LocalObjectReference  inline
  2  items                 []KeyToPath
  4  optional              *bool

ConfigMapVolumeSource
  1  localObjectReference  LocalObjectReference  inline
  2  items                 []KeyToPath
  3  defaultMode           *int32                default=420
  4  optional              *bool
  5  defaultUser           *int64

DownwardAPIProjection
  1  items  []DownwardAPIVolumeFile

DownwardAPIVolumeFile
  1  path              string                  required always
  2  fieldRef          *ObjectFieldSelector    atomic
  3  resourceFieldRef  *ResourceFieldSelector  atomic
  4  mode              *int32
  5  user              *int64

DownwardAPIVolumeSource
  1  items        []DownwardAPIVolumeFile
  2  defaultMode  *int32                   default=420
  3  defaultUser  *int64

EmptyDirVolumeSource
  1  medium     string
  2  sizeLimit  *Quantity
  3  mode       *int32

EphemeralVolumeSource
  1  volumeClaimTemplate  *PersistentVolumeClaimTemplate

FCVolumeSource
  1  targetWWNs  []string
  2  lun         *int32
  3  fsType      string
  4  readOnly    bool
  5  wwids       []string

FlexPersistentVolumeSource
  1  driver     string            required always
  2  fsType     string
  3  secretRef  *SecretReference  atomic
  4  readOnly   bool
  5  options    {}string

FlexVolumeSource
  1  driver     string                 required always
  2  fsType     string
  3  secretRef  *LocalObjectReference  atomic
  4  readOnly   bool
  5  options    {}string

FlockerVolumeSource
  1  datasetName  string
  2  datasetUUID  string

GCEPersistentDiskVolumeSource
  1  pdName     string  required always
  2  fsType     string
  3  partition  int32
  4  readOnly   bool

GitRepoVolumeSource
  1  repository  string  required always
  2  revision    string
  3  directory   string

GlusterfsPersistentVolumeSource
  1  endpoints           string   required always
  2  path                string   required always
  3  readOnly            bool
  4  endpointsNamespace  *string

GlusterfsVolumeSource
  1  endpoints  string  required always
  2  path       string  required always
  3  readOnly   bool

HostPathVolumeSource
  1  path  string   required always
  2  type  *string  allowed=|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket default=""

ISCSIPersistentVolumeSource
   1  targetPortal       string            required always
   2  iqn                string            required always
   3  lun                int32             required always
   4  iscsiInterface     string            default="default"
   5  fsType             string
   6  readOnly           bool
   7  portals            []string
   8  chapAuthDiscovery  bool
  10  secretRef          *SecretReference  atomic
  11  chapAuthSession    bool
  12  initiatorName      *string

ISCSIVolumeSource
   1  targetPortal       string                 required always
   2  iqn                string                 required always
   3  lun                int32                  required always
   4  iscsiInterface     string                 default="default"
   5  fsType             string
   6  readOnly           bool
   7  portals            []string
   8  chapAuthDiscovery  bool
  10  secretRef          *LocalObjectReference  atomic
  11  chapAuthSession    bool
  12  initiatorName      *string

ImageVolumeSource
  1  reference   string
  2  pullPolicy  string  allowed=Always|IfNotPresent|Never

KeyToPath
  1  key   string  required always
  2  path  string  required always
  3  mode  *int32
  4  user  *int64

LocalVolumeSource
  1  path    string   required always
  2  fsType  *string

ModifyVolumeStatus
  1  targetVolumeAttributesClassName  string
  2  status                           string  required always allowed=InProgress|Infeasible|Pending

NFSVolumeSource
  1  server    string  required always
  2  path      string  required always
  3  readOnly  bool

PersistentVolume object
  1  metadata  meta.ObjectMeta         always
  2  spec      PersistentVolumeSpec    always
  3  status    PersistentVolumeStatus  always

PersistentVolumeClaim object
  1  metadata  meta.ObjectMeta              always
  2  spec      PersistentVolumeClaimSpec    always
  3  status    PersistentVolumeClaimStatus  always

PersistentVolumeClaimCondition
  1  type                string  required always
  2  status              string  required always
  3  lastProbeTime       Time    always
  4  lastTransitionTime  Time    always
  5  reason              string
  6  message             string

PersistentVolumeClaimList object
  1  metadata  meta.ListMeta            always
  2  items     []PersistentVolumeClaim

PersistentVolumeClaimSpec
  1  accessModes                []string
  2  resources                  VolumeResourceRequirements  always
  3  volumeName                 string
  4  selector                   *meta.LabelSelector         atomic
  5  storageClassName           *string
  6  volumeMode                 *string                     allowed=Block|Filesystem default="Filesystem"
  7  dataSource                 *TypedLocalObjectReference  atomic
  8  dataSourceRef              *TypedObjectReference
  9  volumeAttributesClassName  *string

PersistentVolumeClaimStatus
   1  phase                             string                            allowed=Bound|Lost|Pending default="Pending"
   2  accessModes                       []string
   3  capacity                          {}Quantity
   4  conditions                        []PersistentVolumeClaimCondition  merge=type list=type
   5  allocatedResources                {}Quantity
   7  allocatedResourceStatuses         {}string
   8  currentVolumeAttributesClassName  *string
   9  modifyVolumeStatus                *ModifyVolumeStatus
  10  healthStatus                      *VolumeHealthStatus

PersistentVolumeClaimTemplate
  1  metadata  meta.ObjectMeta            always
  2  spec      PersistentVolumeClaimSpec  always

PersistentVolumeClaimVolumeSource
  1  claimName  string  required always
  2  readOnly   bool

PersistentVolumeList object
  1  metadata  meta.ListMeta       always
  2  items     []PersistentVolume

PersistentVolumeSource
   1  gcePersistentDisk     *GCEPersistentDiskVolumeSource
   2  awsElasticBlockStore  *AWSElasticBlockStoreVolumeSource
   3  hostPath              *HostPathVolumeSource
   4  glusterfs             *GlusterfsPersistentVolumeSource
   5  nfs                   *NFSVolumeSource
   6  rbd                   *RBDPersistentVolumeSource
   7  iscsi                 *ISCSIPersistentVolumeSource
   8  cinder                *CinderPersistentVolumeSource
   9  cephfs                *CephFSPersistentVolumeSource
  10  fc                    *FCVolumeSource
  11  flocker               *FlockerVolumeSource
  12  flexVolume            *FlexPersistentVolumeSource
  13  azureFile             *AzureFilePersistentVolumeSource
  14  vsphereVolume         *VsphereVirtualDiskVolumeSource
  15  quobyte               *QuobyteVolumeSource
  16  azureDisk             *AzureDiskVolumeSource
  17  photonPersistentDisk  *PhotonPersistentDiskVolumeSource
  18  portworxVolume        *PortworxVolumeSource
  19  scaleIO               *ScaleIOPersistentVolumeSource
  20  local                 *LocalVolumeSource
  21  storageos             *StorageOSPersistentVolumeSource
  22  csi                   *CSIPersistentVolumeSource

PersistentVolumeSpec
   1  capacity                       {}Quantity
   2  persistentVolumeSource         PersistentVolumeSource  inline
   3  accessModes                    []string
   4  claimRef                       *ObjectReference        atomic
   5  persistentVolumeReclaimPolicy  string                  allowed=Delete|Recycle|Retain default="Retain"
   6  storageClassName               string
   7  mountOptions                   []string
   8  volumeMode                     *string                 allowed=Block|Filesystem default="Filesystem"
   9  nodeAffinity                   *VolumeNodeAffinity
  10  volumeAttributesClassName      *string

PersistentVolumeStatus
  1  phase                    string  allowed=Available|Bound|Failed|Pending|Released default="Pending"
  2  message                  string
  3  reason                   string
  4  lastPhaseTransitionTime  *Time

PhotonPersistentDiskVolumeSource
  1  pdID    string  required always
  2  fsType  string

PodCertificateProjection
  1  signerName            string    required
  2  keyType               string    required
  3  maxExpirationSeconds  *int32
  4  credentialBundlePath  string
  5  keyPath               string
  6  certificateChainPath  string
  7  userAnnotations       {}string
  8  user                  *int64

PortworxVolumeSource
  1  volumeID  string  required always
  2  fsType    string
  3  readOnly  bool

ProjectedVolumeSource
  1  sources      []VolumeProjection
  2  defaultMode  *int32              default=420
  3  defaultUser  *int64

QuobyteVolumeSource
  1  registry  string  required always
  2  volume    string  required always
  3  readOnly  bool
  4  user      string
  5  group     string
  6  tenant    string

RBDPersistentVolumeSource
  1  monitors   []string          required
  2  image      string            required always
  3  fsType     string
  4  pool       string            default="rbd"
  5  user       string            default="admin"
  6  keyring    string            default="/etc/ceph/keyring"
  7  secretRef  *SecretReference  atomic
  8  readOnly   bool

RBDVolumeSource
  1  monitors   []string               required
  2  image      string                 required always
  3  fsType     string
  4  pool       string                 default="rbd"
  5  user       string                 default="admin"
  6  keyring    string                 default="/etc/ceph/keyring"
  7  secretRef  *LocalObjectReference  atomic
  8  readOnly   bool

ScaleIOPersistentVolumeSource
   1  gateway           string            required always
   2  system            string            required always
   3  secretRef         *SecretReference  required atomic
   4  sslEnabled        bool
   5  protectionDomain  string
   6  storagePool       string
   7  storageMode       string            default="ThinProvisioned"
   8  volumeName        string
   9  fsType            string            default="xfs"
  10  readOnly          bool

ScaleIOVolumeSource
   1  gateway           string                 required always
   2  system            string                 required always
   3  secretRef         *LocalObjectReference  required atomic
   4  sslEnabled        bool
   5  protectionDomain  string
   6  storagePool       string
   7  storageMode       string                 default="ThinProvisioned"
   8  volumeName        string
   9  fsType            string                 default="xfs"
  10  readOnly          bool

SecretProjection
  1  localObjectReference  LocalObjectReference  inline
  2  items                 []KeyToPath
  4  optional              *bool

SecretReference
  1  name       string
  2  namespace  string

SecretVolumeSource
  1  secretName   string
  2  items        []KeyToPath
  3  defaultMode  *int32       default=420
  4  optional     *bool
  5  defaultUser  *int64

ServiceAccountTokenProjection
  1  audience           string
  2  expirationSeconds  *int64  default=3600
  3  path               string  required always
  4  user               *int64

StorageOSPersistentVolumeSource
  1  volumeName       string
  2  volumeNamespace  string
  3  fsType           string
  4  readOnly         bool
  5  secretRef        *ObjectReference  atomic

StorageOSVolumeSource
  1  volumeName       string
  2  volumeNamespace  string
  3  fsType           string
  4  readOnly         bool
  5  secretRef        *LocalObjectReference  atomic

TypedLocalObjectReference
  1  apiGroup  *string
  2  kind      string   required always
  3  name      string   required always

TypedObjectReference
  1  apiGroup   *string
  2  kind       string   required always
  3  name       string   required always
  4  namespace  *string

Volume
  1  name          string        required always
  2  volumeSource  VolumeSource  inline

VolumeHealthCondition
  1  status   string  required always allowed=DataLoss|Degraded|Inaccessible
  2  reason   string  required always
  3  message  string

VolumeHealthStatus
  1  healthConditions    []VolumeHealthCondition  merge=status list=status,reason
  2  lastTransitionTime  Time                     always

VolumeNodeAffinity
  1  required  *NodeSelector  atomic

VolumeProjection
  1  secret               *SecretProjection
  2  downwardAPI          *DownwardAPIProjection
  3  configMap            *ConfigMapProjection
  4  serviceAccountToken  *ServiceAccountTokenProjection
  5  clusterTrustBundle   *ClusterTrustBundleProjection
  6  podCertificate       *PodCertificateProjection

VolumeResourceRequirements
  1  limits    {}Quantity
  2  requests  {}Quantity

VolumeSource
   1  hostPath               *HostPathVolumeSource
   2  emptyDir               *EmptyDirVolumeSource
   3  gcePersistentDisk      *GCEPersistentDiskVolumeSource
   4  awsElasticBlockStore   *AWSElasticBlockStoreVolumeSource
   5  gitRepo                *GitRepoVolumeSource
   6  secret                 *SecretVolumeSource
   7  nfs                    *NFSVolumeSource
   8  iscsi                  *ISCSIVolumeSource
   9  glusterfs              *GlusterfsVolumeSource
  10  persistentVolumeClaim  *PersistentVolumeClaimVolumeSource
  11  rbd                    *RBDVolumeSource
  12  flexVolume             *FlexVolumeSource
  13  cinder                 *CinderVolumeSource
  14  cephfs                 *CephFSVolumeSource
  15  flocker                *FlockerVolumeSource
  16  downwardAPI            *DownwardAPIVolumeSource
  17  fc                     *FCVolumeSource
  18  azureFile              *AzureFileVolumeSource
  19  configMap              *ConfigMapVolumeSource
  20  vsphereVolume          *VsphereVirtualDiskVolumeSource
  21  quobyte                *QuobyteVolumeSource
  22  azureDisk              *AzureDiskVolumeSource
  23  photonPersistentDisk   *PhotonPersistentDiskVolumeSource
  24  portworxVolume         *PortworxVolumeSource
  25  scaleIO                *ScaleIOVolumeSource
  26  projected              *ProjectedVolumeSource
  27  storageos              *StorageOSVolumeSource
  28  csi                    *CSIVolumeSource
  29  ephemeral              *EphemeralVolumeSource
  30  image                  *ImageVolumeSource

VolumeStatus
  1  image  *ImageVolumeStatus

VsphereVirtualDiskVolumeSource
  1  volumePath         string  required always
  2  fsType             string
  3  storagePolicyName  string
  4  storagePolicyID    string
)"};

}  // namespace muster::api::schema
