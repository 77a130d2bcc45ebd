#include "api/schema/descriptions.h"

// Fields of volumes, storage, devices and the configuration of the scheduler.
namespace muster::api::schema {

const std::string_view kStorageDescriptions = R"(
acceptContentTypes -- Accepted, without effect.
accessMode -- How it is mounted.
addedAffinity -- Node affinity of every pod of the profile.
adminAccess -- True: for administration, beside those who use the device.
allocatedResourceStatuses -- How a growth of the claim stands.
allocation -- The devices that were chosen.
allocationMode -- ExactCount or All.
allocationTimestamp -- When they were chosen.
allowedTopologies -- Where volumes may be made.
allowMultipleAllocations -- True: several may use the device at once.
allowVolumeExpansion -- Whether claims may grow.
attached -- It is attached.
attacher -- The driver that attaches it.
attachError -- What went wrong when it was attached.
attachmentMetadata -- What the driver wants to know when it is mounted.
attachRequired -- Whether volumes must be attached before they are mounted.
attributes -- Facts about the device, by name.
awsElasticBlockStore -- A disk of AWS.
azureDisk -- A disk of Azure.
azureFile -- A file share of Azure.
bind -- Plugins that bind pods; DefaultBinder is the only one.
bindingTimeout -- Accepted, without effect.
bindsToNode -- True: once the device is chosen, its users must run on that node.
bindTimeoutSeconds -- How long to wait for volumes to be bound.
bool -- A yes or no.
bools -- Several of them.
burst -- Accepted, without effect.
cachingMode -- None, ReadOnly or ReadWrite.
capacityKey -- The capacity that is counted.
capacityMultiplier -- Each unit of it counts for so much.
cel -- An expression in CEL that must be true.
cephfs -- A folder of CephFS.
certificateChainPath -- The file for the certificate and its issuers.
chapAuthDiscovery -- Whether discovery logs in by CHAP.
chapAuthSession -- Whether sessions log in by CHAP.
cinder -- A volume of OpenStack.
claimName -- The claim, in the same namespace.
claimRef -- The claim that it is bound to.
clientConnection -- Accepted, without effect.
clusterTrustBundle -- Certificates of authorities, as a file.
compatibilityGroups -- Users of one group may share the counters.
constraints -- What must hold for all devices together.
consumedCapacity -- How much of the device it uses.
consumesCounters -- What the device takes from shared counters.
contentType -- Accepted, without effect.
controllerExpandSecretRef -- The Secret to let the volume grow with.
controllerPublishSecretRef -- The Secret to attach the volume with.
counterSet -- The counters it takes from.
credentialBundlePath -- The file for key and certificate together.
csi -- A volume of a CSI driver.
currentVolumeAttributesClassName -- The class that the volume has at the moment.
datasetName -- The dataset, by name.
datasetUUID -- The dataset, by identity.
dataSource -- The snapshot or claim it is filled from.
dataSourceRef -- The object it is filled from, of any kind.
defaultConstraints -- Spread constraints of pods that have none.
defaultingType -- Where default constraints come from.
defaultUser -- The owner of files that say nothing else.
delayCacheUntilActive -- Accepted, without effect.
detachError -- What went wrong when it was detached.
deviceMultiplier -- Each device counts for so much.
deviceSelector -- Which devices are tainted.
directory -- The folder to put it into.
disabled -- Plugins to leave out; * is all.
diskName -- The disk, by name.
diskURI -- The disk, by address.
distinctAttribute -- The devices must differ in this attribute.
downwardAPI -- Fields of the pod become files.
driverName -- The driver.
drivers -- Drivers on the node.
emptyDir -- An empty folder that goes with the pod.
enableContentionProfiling -- Accepted, without effect.
enabled -- Plugins to use, in this order.
enableProfiling -- Accepted, without effect.
endpointsNamespace -- The namespace of the endpoints.
ephemeral -- A claim that is made for the pod and goes with it.
errorCode -- The gRPC code.
exactly -- One kind of device.
extendedResourceName -- The extended resource that the class stands for.
extenders -- Refused: a decision would wait for another server.
fc -- A Fibre Channel disk.
filter -- Plugins that rule out nodes.
filterTimeout -- Accepted, without effect.
firstAvailable -- Alternatives; the first that can be had is taken.
flexVolume -- A volume of a FlexVolume driver; no longer recommended.
flocker -- A dataset of Flocker; no longer supported.
fsGroupPolicy -- Whether owners of files are changed: ReadWriteOnceWithFSType, File or None.
gateway -- The address of the gateway.
gcePersistentDisk -- A disk of Google Cloud.
generation -- Which state of the pool it belongs to.
gitRepo -- A Git repository; no longer supported.
glusterfs -- A volume of GlusterFS.
hardPodAffinityWeight -- How much required affinity of others counts in scores.
hardwareAddress -- The hardware address.
healthStatus -- How the volume is.
hostPath -- A file or folder of the node.
ignoredResourceGroups -- Extended resources of these groups are not compared with what a node has.
ignoredResources -- These extended resources are not compared with what a node has.
ignorePreferredTermsOfExistingPods -- True: preferred affinity of pods that run does not count.
initiatorName -- The initiator.
inlineVolumeSpec -- The volume itself, if it is no object.
int -- A whole number.
interfaceName -- The network interface.
ints -- Several of them.
ips -- Its addresses.
iqn -- The target.
iscsi -- An iSCSI disk.
iscsiInterface -- The interface to use.
keyPath -- The file for the key.
keyring -- The file with the key.
keyType -- The kind of key.
kubeconfig -- The kubeconfig of the scheduler.
lastPhaseTransitionTime -- When the phase last changed.
leaderElect -- Accepted, without effect.
leaderElection -- Accepted, without effect.
leaseDuration -- Accepted, without effect.
local -- A disk of one node.
lun -- The number of the unit.
matchAttribute -- The devices must have the same value of this attribute.
maxExpirationSeconds -- How long the certificate may be valid at most.
maximumVolumeSize -- The largest volume that can be made.
medium -- Memory: the folder is kept in memory.
minCandidateNodesAbsolute -- Preemption looks at so many nodes at least.
minCandidateNodesPercentage -- Preemption looks at so many nodes at least, of a hundred.
modifyVolumeStatus -- How a change of its class stands.
monitors -- Addresses of the monitors.
multiPoint -- Plugins to use wherever they have something to say.
networkData -- Its network interface.
nfs -- A folder of an NFS server.
nodeAffinity -- Nodes that can use the volume.
nodeAllocatableResources -- What the device uses of the node's own resources.
nodeAllocatableUpdatePeriodSeconds -- How often the number of volumes a node can take is asked.
nodeExpandSecretRef -- The Secret to let the volume grow on the node with.
nodePublishSecretRef -- The Secret to mount the volume with.
nodeStageSecretRef -- The Secret to prepare the volume on the node with.
opaque -- Settings that only the driver understands.
partitionTypeAttribute -- The attribute that tells kinds of partitions apart.
pdID -- The disk.
pdName -- The disk.
perDeviceNodeSelection -- True: each device names its nodes.
permit -- Plugins that may hold back a pod before it is bound.
persistentVolumeClaim -- A claim in the same namespace.
persistentVolumeName -- The volume, by name.
persistentVolumeReclaimPolicy -- What happens to the volume when its claim goes: Retain, Delete or Recycle.
persistentVolumeSource -- The storage behind it.
photonPersistentDisk -- A disk of Photon; no longer supported.
placementFeasible -- Plugins that rule out domains for a group.
placementGenerate -- Plugins that propose domains for a group.
placements -- Sets of nodes by name; a group goes into one of them.
placementScore -- Plugins that give points to domains.
pluginConfig -- Arguments of plugins.
plugins -- Which plugins are used.
podCertificate -- A key and a certificate for the pod.
podGroupPostFilter -- Plugins that make room for a group.
podInfoOnMount -- Whether the driver learns which pod mounts.
podInitialBackoffSeconds -- The first pause after a pod was refused.
podMaxBackoffSeconds -- The longest pause.
portals -- Further addresses.
portworxVolume -- A volume of Portworx.
postBind -- Plugins that learn what was bound.
postFilter -- Plugins that make room for a pod.
preBind -- Plugins that do something before a pod is bound.
preEnqueue -- Plugins that keep pods out of the queue.
preFilter -- Belongs to filter here.
preScore -- Belongs to score here.
profiles -- A scheduler name each, with its plugins.
projected -- Several sources in one folder.
protectionDomain -- The protection domain.
pullPolicy -- When it is pulled: Always, IfNotPresent or Never.
qps -- Accepted, without effect.
queueSort -- The plugin that orders the queue; PrioritySort is the only one.
quobyte -- A volume of Quobyte.
rbd -- A disk of Ceph.
reclaimPolicy -- What happens to volumes when their claim goes: Retain or Delete.
reference -- The image or artifact.
registry -- The address of the registry.
renewDeadline -- Accepted, without effect.
repository -- The address of the repository.
requestedToCapacityRatio -- The curve from utilization to score.
requestPolicy -- How much may be asked for.
required -- The nodes that can use it.
requiresRepublish -- Whether the driver wants to be asked again and again.
reserve -- Plugins that hold something for a pod.
reservedFor -- Who uses it.
resourceLock -- Accepted, without effect.
resourceNamespace -- Accepted, without effect.
resourceSliceCount -- How many slices the pool has.
results -- The devices that were chosen, for each request.
retryPeriod -- Accepted, without effect.
scaleIO -- A volume of ScaleIO.
schedulerName -- Pods that ask for this name are served.
scoringStrategy -- How utilization becomes a score.
secretFile -- The file with the key.
secretNamespace -- The namespace of the Secret.
seLinuxMount -- Whether the driver mounts with the right SELinux label.
server -- The address of the server.
serviceAccountToken -- A token of the service account, as a file.
serviceAccountTokenInSecrets -- Whether tokens are handed over as secrets.
sharedCounters -- Counters that several devices take from.
shareName -- The share.
sizeLimit -- How large it may become.
skipNodeOperations -- What the node need not do for the device.
sources -- The sources.
sslEnabled -- Whether to use TLS.
step -- Amounts grow by this much.
storageHealth -- How the storage is.
storageMode -- ThickProvisioned or ThinProvisioned.
storageos -- A volume of StorageOS; no longer supported.
storagePolicyID -- The storage policy, by identity.
storagePolicyName -- The storage policy, by name.
storagePool -- The pool.
string -- A text.
strings -- Several of them.
system -- The storage system.
taint -- The taint.
taints -- Keep away those who do not tolerate them.
targetPortal -- The address of the target.
targetVolumeAttributesClassName -- The class it is changed to.
targetWWNs -- The targets.
tenant -- The tenant.
tokenRequests -- Tokens the driver wants for each pod.
tolerationSeconds -- For how long.
topologyKeys -- Labels of nodes that the driver cares about.
userAnnotations -- Notes for the signer.
utilization -- How much is used, of a hundred.
validRange -- Amounts from here to there.
validValues -- Only these amounts.
versions -- Several of them.
volume -- The volume.
volumeAttributes -- What the driver wants to know.
volumeAttributesClassName -- The class of the volume's attributes.
volumeClaimTemplate -- How the claim is made.
volumeHandle -- The volume, as its driver calls it.
volumeID -- The volume.
volumeLifecycleModes -- Persistent, Ephemeral or both.
volumeNamespace -- The namespace of the volume.
volumePath -- The path of the disk.
volumeSource -- The storage behind it.
vsphereVolume -- A disk of vSphere.
wwids -- The disks, by identity.
DeviceAttribute.version -- A version, such as 1.2.3.
Plugin.weight -- How much its points count.
)";

}  // namespace muster::api::schema
