#include "api/schema/descriptions.h"

// Fields of pods, containers and nodes.
namespace muster::api::schema {

const std::string_view kPodDescriptions = R"(
add -- Rights beyond the usual ones.
address -- The address.
allocatedResourcesStatus -- Health of the devices the container uses.
allowPrivilegeEscalation -- Whether a process may get more rights than its parent.
appArmorProfile -- The AppArmor profile.
architecture -- The processor, such as amd64.
assigned -- The configuration the node should use.
bindMountOptions -- Options of the mount in the container.
bootID -- Changes with every start of the machine.
capabilities -- Rights that are added or taken away.
conditionType -- A condition that must be True for the pod to be ready.
configMapKeyRef -- An entry of a ConfigMap.
configMapRef -- All entries of a ConfigMap become variables.
configSource -- No longer used.
containerRuntimeVersion -- Name and version of the container runtime.
containers -- Containers it is about.
daemonEndpoints -- Where the kubelet answers.
declaredFeatures -- Features that the node's kubelet has.
devicePath -- Where the device appears.
disableResizePreemption -- Resources for whose sake a resize does not push out pods.
divisor -- The unit; the amount is divided by it.
dnsConfig -- Name servers and search domains on top of the policy.
drop -- Rights that are taken away.
enableServiceLinks -- Whether services appear as environment variables.
env -- Environment variables.
envFrom -- Where more environment variables come from.
ephemeralContainerCommon -- What it shares with other containers.
ephemeralContainerStatuses -- How the ephemeral containers stand.
evictionResponders -- Who wants to be asked before the pod is evicted.
exitCode -- With which code it ended.
exitCodes -- The rule holds for these codes.
extendedResourceClaimStatus -- The claim that was made for extended resources.
externalID -- No longer used.
failureThreshold -- How many failures in a row count.
fieldRef -- A field of the pod, such as metadata.name.
fileKeyRef -- A variable in a file on a volume.
finishedAt -- When it ended.
fsGroup -- The group that owns files on volumes.
fsGroupChangePolicy -- Whether owners of files are changed always or only if the root of the volume differs.
gid -- The group.
gmsaCredentialSpec -- The credential specification itself.
gmsaCredentialSpecName -- The credential specification, by name.
grpc -- Asks for the health by gRPC.
handler -- How to look.
health -- Healthy, Unhealthy or Unknown.
hostAliases -- Further lines of /etc/hosts.
hostIP -- The address of the node to open the port on.
hostIPC -- True: shares the node's IPC namespace.
hostIPs -- All addresses of the node.
hostnameOverride -- The host name, whatever the pod is called.
hostnames -- Names for the address.
hostPID -- True: sees the processes of the node.
hostProcess -- True: runs as a process of the Windows host.
hostUsers -- False: the pod has users of its own, apart from those of the node.
httpHeaders -- Headers to send.
imageID -- The image that runs, by digest.
imagePullPolicy -- When the image is pulled: Always, IfNotPresent or Never.
imageRef -- The image, by digest.
initContainerStatuses -- How the init containers stand.
initialDelaySeconds -- How long to wait after the start before the first look.
kernelVersion -- The kernel.
kubeletConfigKey -- The entry with the kubelet's configuration.
kubeletEndpoint -- The kubelet's port.
kubeletVersion -- The kubelet's version.
kubeProxyVersion -- No longer used.
lastHeartbeatTime -- When the node last said so.
lastKnownGood -- The configuration to go back to.
lastState -- How it ended before its last start.
level -- The SELinux level.
linux -- User and groups on Linux.
livenessProbe -- If this look fails, the container is started again.
machineID -- The identity of the machine.
matchFields -- Requirements on fields of nodes; all must hold.
mismatchLabelKeys -- Label keys whose values must differ from the pod's own.
mountPropagation -- Whether mounts made later are seen on the other side.
names -- Names of the image.
nameservers -- Addresses of name servers.
nodeAffinityPolicy -- Whether nodes that the pod may not use count: Honor or Ignore.
nodeAllocatableResourceClaimStatuses -- What claims use of the node's own resources.
nodeSelectorTerms -- Alternatives; one must match.
nodeTaintsPolicy -- Whether tainted nodes count: Honor or Ignore.
operatingSystem -- linux or windows.
osImage -- The name of the system.
periodSeconds -- How often to look.
podAffinityTerm -- The term.
podCIDRs -- Address ranges for pods of the node.
podIPs -- All addresses of the pod.
podPreemptionPolicy -- What may push out pods of the node.
Port -- The port.
postStart -- Right after the start.
preference -- The nodes that are preferred.
prefix -- Put before every name.
preStop -- Before the end.
privileged -- True: may do what the node may do.
procMount -- Which parts of /proc are hidden.
quantity -- The amount.
readinessGates -- Conditions that must be True for the pod to be ready.
readinessProbe -- While this look fails, the pod is not ready.
readOnlyRootFilesystem -- True: the container cannot write to its image.
recursiveReadOnlyMounts -- Whether recursive read-only mounts work.
requestMappings -- Which request stands for which resource of which container.
requestName -- The request in the claim.
resize -- No longer used; conditions say how a resize stands.
resourceID -- The device.
restartCount -- How often it was started again.
role -- The SELinux role.
runAsGroup -- The group of the first process.
runAsNonRoot -- True: an image that runs as root is refused.
runAsUser -- The user of the first process.
runAsUserName -- The Windows user of the first process.
running -- It runs.
runningInUserNamespace -- Whether the kubelet runs without being root.
runtimeClassName -- The RuntimeClass, which chooses the container runtime.
runtimeHandlers -- Container runtimes and what they can do.
scheme -- HTTP or HTTPS.
searches -- Search domains.
seccompProfile -- Which system calls are allowed.
seconds -- How many seconds.
secretKeyRef -- An entry of a Secret.
seLinuxChangePolicy -- How labels of files on volumes are changed: by mount or one by one.
seLinuxOptions -- The SELinux context.
service -- The name of the service to ask about.
serviceAccount -- The older name of serviceAccountName.
setHostnameAsFQDN -- True: the host name is the full name.
shareProcessNamespace -- True: containers see each other's processes.
signal -- The signal it ended with.
sizeBytes -- Its size.
sleep -- Waits.
started -- The startup probe has succeeded.
startupProbe -- Other looks wait until this one has succeeded.
state -- How it stands.
stdin -- True: standard input stays open.
stdinOnce -- True: standard input closes after the first client.
subPath -- The part of the volume that is mounted.
subPathExpr -- The same, with variables in it.
successThreshold -- How many successes in a row count.
supplementalGroups -- Further groups of the first process.
supplementalGroupsPolicy -- Whether the groups of the image count, too.
swap -- Swap space of the node.
sysctls -- Kernel settings of the pod.
systemUUID -- The identity of the hardware.
targetContainerName -- The container whose processes it sees.
terminated -- It has ended.
terminationGracePeriodSeconds -- How long it may take to end.
terminationMessagePath -- The file whose text becomes the message at the end.
terminationMessagePolicy -- Whether the end of the log becomes the message if there is no file.
tty -- True: a terminal is made for it.
userNamespaces -- Whether pods can have users of their own.
valueFrom -- Where the value comes from.
volumeDevices -- Volumes that appear as devices.
volumeHealth -- How its volumes are.
volumeMounts -- Where volumes appear in the container.
volumesAttached -- Volumes that are attached to the node.
volumesInUse -- Volumes that are mounted on the node.
volumeStatus -- What is known of the volume.
waiting -- It has not started yet.
windowsOptions -- Settings for Windows.
workingDir -- The folder that the program starts in.
EvictionResponder.priority -- Who is asked first.
PodResourceClaim.name -- How containers refer to the claim.
)";

}  // namespace muster::api::schema
