#include "api/schema/descriptions.h"

// Fields of workloads, groups, services, rights and of the API itself.
namespace muster::api::schema {

const std::string_view kWorkloadDescriptions = R"(
activeDeadlineSeconds -- After how many seconds it is ended, whatever it has done.
addressType -- IPv4, IPv6 or FQDN.
aggregationRule -- The rules are gathered from other roles.
allocateLoadBalancerNodePorts -- Whether a load balancer's service gets ports on the nodes, too.
allowed -- Yes, it may be done.
attestations -- Statements about the holder of the token.
authenticated -- The token is good.
backoffLimit -- How many failed pods are put up with before the Job fails.
backoffLimitPerIndex -- How many failed pods of one index are put up with before the index fails.
binaryData -- Entries that are not text, in base64, by key.
boundObjectRef -- The token is good only as long as this object exists.
causes -- What exactly is wrong, field by field.
clientIP -- Sessions are told apart by the address of the client.
clusterIP -- The address of the service inside the cluster; None for a service without one.
clusterIPs -- All its addresses inside the cluster.
clusterRoleSelectors -- The roles whose rules are gathered, by label.
code -- The HTTP status.
completedIndexes -- Indexes that have succeeded, as in 1,3-5.
completionMode -- Indexed gives every pod a number of its own; NonIndexed does not.
completions -- How many pods must succeed.
completionTime -- When it was complete.
component -- Which program says it.
compositePodGroupTemplates -- Groups of groups that are part of it.
concurrencyPolicy -- What happens when the Job before still runs: Allow, Forbid or Replace.
condition -- The condition to be written.
continue -- The list goes on: ask again with this.
coordinator -- The pod that others find first: its address is written on every Job and pod.
currentHealthy -- Pods that are healthy.
currentInPlaceRestartAttempt -- Which restart in place is under way.
currentNumberScheduled -- Nodes that should run the pod and do.
currentReplicas -- Pods of the current revision.
defaultRequest -- Requests of containers that name none.
deleteOptions -- How the pod is to be deleted.
denied -- No, and nobody else may allow it.
dependsOn -- Jobs that must be ready or complete before this one is made.
deprecatedCount -- How often it was seen; series replaces it.
deprecatedFirstTimestamp -- When it was first seen.
deprecatedLastTimestamp -- When it was last seen.
deprecatedSource -- Who says it, in the older form.
deprecatedTopology -- Labels of the node; zone and nodeName replace it.
desiredHealthy -- How many pods must be healthy.
desiredNumberScheduled -- Nodes that should run the pod.
details -- Which object, and what exactly is wrong with it.
disruptedPods -- Pods whose eviction was allowed and that are still there.
disruptionsAllowed -- How many more pods may be evicted at the moment.
dryRun -- All: everything is checked and nothing is stored.
enableDNSHostnames -- True: every pod gets a host name that can be looked up.
expectedPods -- Pods that the budget counts.
expirationTimestamp -- When the token ends.
externalIPs -- Addresses outside the cluster that the service answers on, too.
externalName -- Another name that the service stands for.
externalTrafficPolicy -- Local: traffic from outside stays on the node it reached.
failedIndexes -- Indexes that have failed, as in 1,3-5.
failedJobsHistoryLimit -- How many failed Jobs are kept.
failurePolicy -- What a failed Job means for the whole set.
field -- The field that is meant, as in spec.containers[0].name.
fieldSelector -- Selects objects by fields.
fieldsType -- How fieldsV1 is to be read; FieldsV1.
fieldsV1 -- The fields that the manager owns.
forNodes -- Nodes whose clients should use the endpoint.
forZones -- Zones whose clients should use the endpoint.
gracePeriodSeconds -- How long the object may take to end; 0 is at once.
groupName -- Name of a group of Jobs that belong together.
healthCheckNodePort -- The port on every node that says whether the service has a pod there.
hints -- Who should use the endpoint.
hpaPodSelector -- Selects the leader pods, as text, for an autoscaler.
ignoreStoreReadErrorWithClusterBreakingPotential -- Delete the object even if it cannot be read.
imagePullSecrets -- Secrets to pull images with.
incomplete -- The list may lack rules.
ingress -- Addresses of the load balancer.
internalTrafficPolicy -- Local: traffic from pods stays on their node.
ipFamilies -- IPv4, IPv6 or both.
ipFamilyPolicy -- Whether the service wants one kind of address or two.
ipMode -- Whether the load balancer's address is delivered to nodes as it is: VIP or Proxy.
jobIndex -- Which of the Jobs.
jobRestarts -- How often each Job was started again.
jobRestartsCountTowardsMax -- The same, counting those that use up restarts.
jobTemplate -- How its Jobs are made.
lastScheduleTime -- When it last made a Job.
lastSuccessfulTime -- When a Job of it last succeeded.
lastUpdateTime -- When the condition was last written.
leader -- How the leaders are scheduled.
loadBalancer -- What the load balancer says.
loadBalancerClass -- Which kind of load balancer is wanted.
loadBalancerIP -- The address that is wanted from the load balancer; up to its maker.
loadBalancerSourceRanges -- Clients that the load balancer lets in, as in 10.0.0.0/8.
manager -- Who owns the fields.
manualSelector -- True: selector and labels are the user's own.
matchLabelExpressions -- Requirements on labels of nodes; all must hold.
maxFailedIndexes -- How many indexes may fail before the Job does.
maxLimitRequestRatio -- How many times its request a limit may be at most.
minAvailable -- How many pods must stay; a number or a share.
minCount -- The least number of pods that must be placeable at once; unset: as many as there are.
minGroupCount -- The least number of child groups that must be placeable at once; unset: as many as there are.
network -- How its pods find each other.
networkConfig -- How its pods find each other.
nodePort -- The port of the service on every node.
nonResourceRules -- What the user may do with paths.
note -- In words, for people.
notReadyAddresses -- Addresses of pods that are not ready.
numberAvailable -- Nodes whose pod has been ready for at least minReadySeconds.
numberMisscheduled -- Nodes that run the pod and should not.
numberReady -- Nodes whose pod is ready.
numberUnavailable -- Nodes that should have an available pod and have none.
object -- The object as it is now; of an error, a Status.
onExitCodes -- The rule holds for these exit codes.
onJobFailureMessagePatterns -- Regular expressions; the rule holds if one matches the message of the Job.
onJobFailureReasons -- The rule holds if the Job failed for one of these reasons; none is all.
onPodConditions -- The rule holds for pods with one of these conditions.
operation -- Apply or Update.
ordinals -- Where the numbers of the pods begin.
orphanDependents -- No longer used; propagationPolicy replaces it.
parentCompositePodGroupName -- The group this one is part of.
paused -- True: a changed template changes no pods.
podFailurePolicy -- What failed pods mean, by exit code and condition.
podGroupTemplates -- PodGroups that are part of it.
podIndex -- Which of the pods.
podManagementPolicy -- OrderedReady: one pod after the other; Parallel: all at once.
podReplacementPolicy -- Whether a pod that ends is replaced at once or when it has failed.
preconditions -- The object must still be this one.
preferredHolder -- Who should hold the lease next.
previousInPlaceRestartAttempt -- The restart in place before the current one.
progressDeadlineSeconds -- After how many seconds without progress the update counts as failed.
propagationPolicy -- What happens to dependents: Orphan, Background or Foreground.
rawSelector -- The selector as it was written.
regarding -- The object it is about.
remainingItemCount -- How many objects follow this page.
replicatedJob -- Which of the Jobs, by name.
replicatedJobsStatus -- How each kind of Job stands.
reportingController -- Which program says it.
reportingInstance -- Which instance of that program.
resourceRules -- What the user may do with objects.
restarts -- How often it was started again.
restartsCountTowardsMax -- How often it was started again, counting those that use up restarts.
restartStrategy -- How Jobs are started again: recreated after all are gone, or restarted in place.
retentionPolicy -- What happens to the volumes at the end.
retryAfterSeconds -- When to ask again.
rollingUpdateConfiguration -- How many groups an update may take away or add at a time.
rolloutStrategy -- How an update goes about.
schedule -- When, in the notation of cron.
scopeName -- The scope.
scopes -- Which pods the quota counts.
scopeSelector -- Which pods the quota counts, by scope and value.
secrets -- Secrets that pods of the account may use.
serviceName -- The Service that gives the pods their names.
serving -- It answers, even if it is terminating.
sessionAffinity -- ClientIP: one client always reaches the same pod.
sessionAffinityConfig -- How long sessions last.
shardInfo -- Which part of the objects the list covers.
start -- The first number.
startingDeadlineSeconds -- How late a Job may start; later ones are left out.
startTime -- When it started.
startupPolicy -- Whether Jobs start all at once or in order.
startupPolicyOrder -- AnyOrder or InOrder.
stringData -- Entries as text; they are stored in data.
subdomainPolicy -- Shared: one domain for all groups; UniquePerReplica: one for each.
subGroupPolicy -- Splits the workers of a group into smaller groups.
subGroupPolicyType -- Whether the leader is in the first of the smaller groups.
subGroupSize -- How many pods are in each of them.
subsets -- Addresses and the ports they answer on.
succeededCount -- How many indexes must have succeeded.
succeededIndexes -- Which indexes must have succeeded, as in 1,3-5.
successfulJobsHistoryLimit -- How many successful Jobs are kept.
suspended -- How many Jobs are suspended.
targetPort -- The port of the pods, by number or name.
targetReplicatedJobs -- The Jobs it is about, by name; none is all.
templateName -- The template in the Workload.
templates -- A claim is made from each of them.
terminalState -- Completed or Failed, once it has ended.
timeZone -- The time zone of the schedule, as in Europe/Zurich; unset is that of the server.
trafficDistribution -- Which endpoints are preferred, such as those in the same zone.
ttlSecondsAfterFinished -- How long it is kept after its end, in seconds.
unavailableReplicas -- Pods that are missing until all wanted ones are available.
uncountedTerminatedPods -- Pods that have ended and are not counted yet.
unhealthyPodEvictionPolicy -- Whether pods that are not ready may be evicted whatever the budget says.
updatedNumberScheduled -- Nodes that run the newest pod.
updateRevision -- The revision of the newest template.
used -- What is used, by resource.
userInfo -- Who asks.
username -- The name.
volumeClaimPolicies -- Claims that are made for the Jobs, and what becomes of them.
whenScaled -- What happens to claims of pods that are scaled away: Retain or Delete.
worker -- How the workers are scheduled.
workerTemplate -- How the workers are made.
workloadName -- The Workload, by name.
workloadRef -- The template it was made from.
zone -- The zone it is in.
CronJobStatus.active -- Jobs that have not ended.
EndpointConditions.ready -- It answers and may be used.
EndpointConditions.terminating -- It is being deleted.
FailurePolicyRule.action -- FailJobSet, RestartJobSet or RestartJobSetAndIgnoreMaxRestarts.
JobSetSpec.suspend -- True: Jobs are suspended; their pods are ended.
JobSpec.parallelism -- How many pods run at the same time.
JobSpec.selector -- Selects the pods of the Job; made by the server.
JobStatus.active -- Pods that have not ended.
JobStatus.failed -- Pods that have failed.
JobStatus.ready -- Pods that are ready.
JobStatus.succeeded -- Pods that have succeeded.
LeaderWorkerSetSpec.replicas -- How many groups of a leader and its workers there should be.
PodFailurePolicyRule.action -- FailJob, FailIndex, Ignore or Count.
ReplicatedJob.replicas -- How many Jobs are made from the template.
ReplicatedJob.template -- How the Jobs are made.
UncountedTerminatedPods.failed -- Those that have failed, by uid.
UncountedTerminatedPods.succeeded -- Those that have succeeded, by uid.
WatchEvent.type -- ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
)";

}  // namespace muster::api::schema
