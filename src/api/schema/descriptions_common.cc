#include "api/schema/descriptions.h"

// Fields that many messages have.
namespace muster::api::schema {

const std::string_view kCommonDescriptions = R"(
accessModes -- How the volume may be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod.
action -- What to do, or what was done.
active -- How many are at work.
addresses -- Where it can be reached.
all -- Members are disrupted all together, or not at all.
allNodes -- True: every node can use the devices.
allocatable -- How much of it may be used.
allocatedResources -- What is set aside for it at the moment.
apiGroup -- The API group of the object that is named.
apiGroups -- API groups the rule speaks of; * is all.
apiVersion -- The API group and version, as in apps/v1.
appProtocol -- The protocol that applications speak on the port, such as kubernetes.io/h2c.
args -- Arguments of the command.
audience -- Whom the token is meant for.
audiences -- Whom the token is meant for.
automountServiceAccountToken -- Whether pods get a token of their service account without asking.
availableReplicas -- Pods that have been ready for at least minReadySeconds.
basic -- Members are placed as they come.
bindingConditions -- Conditions that must be True before a pod is bound to a node with the device.
bindingFailureConditions -- Conditions that, if True, say that the device cannot be used after all.
capacity -- How much there is of it.
collisionCount -- How often a name was taken already; makes the next name different.
command -- The program and its arguments; no shell is involved.
conditions -- What holds for the object at the moment, one entry per type.
config -- Settings that are handed on to drivers.
configMap -- A ConfigMap whose entries become files.
containerID -- The name of the container in its runtime.
containerName -- The container that is meant.
count -- How many.
counters -- Amounts by name.
currentRevision -- The revision that pods not updated yet belong to.
data -- The entries, by key.
default -- Taken where nothing is asked for.
defaultMode -- Permission bits of files that say nothing else.
derivedAttributes -- Attributes computed from those that the driver gave.
device -- The name of the device in its pool.
deviceClassName -- The DeviceClass that says what kind of device it is.
deviceConfiguration -- The settings, and the driver they are for.
devices -- The devices.
disruptionMode -- Whether members may be preempted one by one or only all together.
driver -- The driver in charge, by its name in DNS style.
effect -- What happens to those who do not tolerate it.
endpoints -- Those that answer.
error -- What went wrong.
evaluationError -- What went wrong while the question was judged; the answer may be incomplete.
eventTime -- When it was first seen.
exec -- Runs a command in the container.
expirationSeconds -- How long it is valid, in seconds.
expression -- An expression in CEL.
extra -- Further facts about the user, by name.
failed -- How many have failed.
features -- What it is able to do.
fieldPath -- The part of the object that is meant, as in spec.containers{name}.
fsType -- The file system of the volume, such as ext4; the kubelet mounts it.
fullyLabeledReplicas -- Pods that carry all labels of the template.
gang -- All or nothing: at least so many must be placed at once.
group -- The API group.
groups -- The groups the user belongs to.
hard -- The most that may be used, by resource.
healthConditions -- What is known of the health of the volume.
host -- The machine, by name or address.
hostname -- The host name.
httpGet -- Asks for a page by HTTP.
image -- The container image to run.
immutable -- True: the content cannot be changed any more.
ip -- The IP address.
items -- The objects of the list.
key -- The key that is meant.
kind -- The kind of the object, in singular: Pod.
labelSelector -- Selects objects by their labels.
lastObservedTime -- When it was last seen.
lastProbeTime -- When it was last looked at.
lastTransitionTime -- When the status of the condition last changed.
lifecycle -- What to do after the start and before the end of the container.
limits -- The most that may be used.
localhostProfile -- A profile that is a file on the node, if the type is Localhost.
localObjectReference -- The object that is meant, in the same namespace.
managedBy -- The controller in charge; others leave it alone.
mapping -- What is counted as what.
matchExpressions -- Requirements on keys and values; all must hold.
matchLabelKeys -- Label keys whose values are taken from the pod itself and added to the selector.
max -- The most.
maxSurge -- How many more than wanted may exist during an update; a number or a share.
maxUnavailable -- How many may be missing during a change; a number or a share.
message -- In words, for people.
metadata -- Name, namespace, labels and what else all objects have.
min -- The least.
minReadySeconds -- How long a pod must be ready before it counts as available.
mode -- Permission bits of the file.
mountOptions -- Options of mount, not checked.
mountPath -- Where in the container the volume appears.
name -- The name.
namespace -- The namespace.
nodeName -- The node.
nodeSelector -- Nodes that are meant.
nonResourceAttributes -- The request in question, if it is about a path and not about objects.
nonResourceURLs -- Paths the rule speaks of, as in /healthz; * at the end matches what follows.
observedGeneration -- The generation of the object that the status speaks of.
operator -- How key and values are compared.
optional -- True: it need not exist.
options -- Further options, by name.
overhead -- What is used on top.
parallelism -- How many at the same time at most.
parameters -- Settings for the driver, by name.
partition -- Those with a lower index are left as they are; of a disk, the partition.
path -- The path.
percentageOfNodesToScore -- Accepted, without effect: all nodes are scored.
percentageOfPlacementsToScore -- How many of the possible placements are compared, of a hundred; unset is all.
perContainer -- For each container.
perPod -- For each pod.
persistentVolumeClaimRetentionPolicy -- What happens to the claims when the pods or the set go.
phase -- Where it stands, in one word.
pool -- The pool the device is in.
port -- The port, by number or name.
ports -- The ports.
preemptionPolicy -- Whether less important pods may be pushed out: Never or PreemptLowerPriority.
preferredDuringSchedulingIgnoredDuringExecution -- Terms that nodes should meet; each adds its weight to the score.
priority -- The higher, the more important.
priorityClassName -- The PriorityClass that gives the priority.
protocol -- TCP, UDP or SCTP.
publishNotReadyAddresses -- True: addresses of pods that are not ready are published, too.
readOnly -- True: nothing can be written.
ready -- How many are ready.
readyReplicas -- Pods that are ready.
reason -- Why, in one word for programs.
recursiveReadOnly -- Whether mounts below are read-only, too.
related -- A second object that it concerns.
replicas -- How many there should be; in a status, how many there are.
request -- The request that is meant, by name.
requests -- What is asked for.
requiredDuringSchedulingIgnoredDuringExecution -- Terms that a node must meet.
requirements -- Requirements on keys and values; all must hold.
resizePolicy -- Whether the container restarts when a resource of it is resized.
resource -- The resource that is meant.
resourceAttributes -- The request in question, if it is about objects.
resourceClaimName -- A ResourceClaim in the same namespace.
resourceClaims -- Claims of devices.
resourceClaimStatuses -- Which claims were made for the templates that are named.
resourceClaimTemplateName -- A ResourceClaimTemplate that a claim is made from.
resourceFieldRef -- A resource of a container, such as limits.cpu.
resourceName -- The resource, by name.
resourceNames -- The objects the rule speaks of, by name; none is all.
resources -- The resources that are meant, or that are asked for.
resourceVersion -- The version of the object, or of the list.
restartPolicy -- When containers are started again.
restartPolicyRules -- Exceptions from the restart policy, by exit code.
revision -- Its number; later ones are greater.
revisionHistoryLimit -- How many old revisions are kept.
roleRef -- The role that is given.
rollingUpdate -- How many pods an update may take away or add at a time.
rules -- What is allowed, or what to do when; a list of rules.
scheduling -- How its pods are scheduled together.
schedulingConstraints -- Where members must be together.
schedulingPolicy -- Basic or gang.
score -- Points; plugins that give points.
secret -- A Secret whose entries become files.
secretName -- The Secret, by name.
secretRef -- The Secret with what is needed to log in.
securityContext -- Users, rights and limits that it runs with.
selector -- Selects objects by their labels.
selectors -- What a device must be like; all must hold.
selfLink -- No longer used.
series -- How often the same was seen, and when last.
shape -- Points of a curve: utilization and score.
shareID -- Tells apart several users of one device.
signerName -- The signer whose certificates are meant.
single -- Members are disrupted one by one.
source -- Where it comes from.
spec -- What is wanted.
startedAt -- When it started.
status -- What is observed; nobody but controllers writes it.
stopSignal -- The signal that ends the container.
storageClassName -- The StorageClass.
strategy -- How old pods are replaced by new ones.
subdomain -- The domain below the namespace that host names are in.
subjects -- Who is meant: users, groups, service accounts.
subresource -- The part of the object, such as status.
succeeded -- How many have succeeded.
successPolicy -- When it counts as successful before everything has ended.
suspend -- True: nothing new is started, and what runs is ended.
targetRef -- The object behind it.
tcpSocket -- Opens a connection.
template -- How its pods, or other objects, are made.
terminating -- How many are being deleted and have not ended yet.
terminatingReplicas -- Pods that are being deleted.
time -- When.
timeAdded -- When it was added.
timeoutSeconds -- After how many seconds it counts as failed.
token -- The token.
tolerations -- Taints that are put up with.
topology -- Labels of nodes: the group must fit into nodes that share a value.
type -- Which type it is.
uid -- The identity of the object, different for each one that ever existed.
updatedReplicas -- Pods of the newest template.
updateStrategy -- How old pods are replaced by new ones.
user -- Who it is.
value -- The value.
values -- The values that are compared.
verb -- What is to be done: get, list, watch, create, update, patch, delete.
verbs -- What may be done: get, list, watch, create, update, patch, delete; * is all.
version -- The version.
volumeClaimTemplates -- A claim is made from each of them for every pod.
volumeMode -- Filesystem or Block.
volumeName -- The volume, by name.
weight -- How much it counts.
whenDeleted -- What happens when the owner is deleted: Retain or Delete.
)";

}  // namespace muster::api::schema
