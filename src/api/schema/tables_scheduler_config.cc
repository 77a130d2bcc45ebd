#include "api/schema/tables.h"

// kubescheduler.config.k8s.io/v1: the file that configures a scheduler. It is never served; the
// numbers only keep fields apart. tables.h explains the notation.
namespace muster::api::schema {

const Table kSchedulerConfig{"kubescheduler/v1", R"(
ClientConnectionConfiguration
  1  kubeconfig          string
  2  acceptContentTypes  string
  3  contentType         string
  4  qps                 Any
  5  burst               int32

DefaultPreemptionArgs object -- Arguments of the plugin that evicts pods for others.
  1  minCandidateNodesPercentage  *int32
  2  minCandidateNodesAbsolute    *int32
  3  pdbViolations                *string  allowed=Allow|Never
     -- Muster's own: whether a disruption budget may be violated if nothing else helps.
  4  mode                         *string  allowed=Search|Upstream
     -- Muster's own: whether placements are looked for that need fewer victims than upstream's.
  5  victimPatience               *string
     -- Muster's own: how long a victim is waited for before others are chosen.
  6  stepsMax                     *int64
     -- Muster's own: how much one search for victims may cost.
  7  reserveAfter                 *string
     -- Muster's own: after how long room is kept for a group that waits; 0s for never.
  8  reserveNodesPercentage       *int32
     -- Muster's own: on how many of a hundred nodes room may be kept.

DynamicResourcesArgs object
  1  filterTimeout   *string
  2  bindingTimeout  *string

InterPodAffinityArgs object
  1  hardPodAffinityWeight               *int32
  2  ignorePreferredTermsOfExistingPods  bool

KubeSchedulerConfiguration object -- How the scheduler decides.
  1   parallelism                    *int32
  2   leaderElection                 *LeaderElectionConfiguration
  3   clientConnection               *ClientConnectionConfiguration
  4   enableProfiling                *bool
  5   enableContentionProfiling      *bool
  6   percentageOfNodesToScore       *int32
  7   podInitialBackoffSeconds       *int64
  8   podMaxBackoffSeconds           *int64
  9   profiles                       []KubeSchedulerProfile
  10  extenders                      Any
  11  delayCacheUntilActive          bool
  12  percentageOfPlacementsToScore  *int32

KubeSchedulerProfile -- The plugins that decide for the pods of one scheduler name.
  1  schedulerName                  *string
  2  percentageOfNodesToScore       *int32
  3  plugins                        *Plugins
  4  pluginConfig                   []PluginConfig
  5  percentageOfPlacementsToScore  *int32

LeaderElectionConfiguration
  1  leaderElect        *bool
  2  leaseDuration      *string
  3  renewDeadline      *string
  4  retryPeriod        *string
  5  resourceLock       string
  6  resourceName       string
  7  resourceNamespace  string

NodeAffinityArgs object
  1  addedAffinity  *core.NodeAffinity

NodeResourcesBalancedAllocationArgs object
  1  resources  []ResourceSpec

NodeResourcesFitArgs object
  1  ignoredResources       []string
  2  ignoredResourceGroups  []string
  3  scoringStrategy        *ScoringStrategy

Plugin
  1  name    string
  2  weight  *int32

PluginConfig
  1  name  string
  2  args  Any

PluginSet
  1  enabled   []Plugin
  2  disabled  []Plugin

Plugins
  1   preEnqueue          PluginSet
  2   queueSort           PluginSet
  3   preFilter           PluginSet
  4   filter              PluginSet
  5   postFilter          PluginSet
  6   preScore            PluginSet
  7   score               PluginSet
  8   reserve             PluginSet
  9   permit              PluginSet
  10  preBind             PluginSet
  11  bind                PluginSet
  12  postBind            PluginSet
  13  multiPoint          PluginSet
  14  placementGenerate   PluginSet
  15  placementFeasible   PluginSet
  16  placementScore      PluginSet
  17  podGroupPostFilter  PluginSet

NodeSet
  1  name      string
  2  selector  string

NodeSetPlacementsArgs object
  1  placements  []NodeSet

PodTopologySpreadArgs object
  1  defaultConstraints  []core.TopologySpreadConstraint
  2  defaultingType      *string

RequestedToCapacityRatioParam
  1  shape  []UtilizationShapePoint

ResourceSpec
  1  name    string
  2  weight  *int64

ScoringStrategy
  1  type                      string
  2  resources                 []ResourceSpec
  3  requestedToCapacityRatio  *RequestedToCapacityRatioParam

UtilizationShapePoint
  1  utilization  int32
  2  score        int32

VolumeBindingArgs object
  1  bindTimeoutSeconds  *int64
  2  shape               []UtilizationShapePoint
)"};

}  // namespace muster::api::schema
