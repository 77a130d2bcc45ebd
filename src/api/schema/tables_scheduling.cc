#include "api/schema/tables.h"

// scheduling.k8s.io: priority classes, workloads and the groups made from them. tables.h explains
// the notation.
namespace muster::api::schema {

const Table kSchedulingV1{"scheduling/v1", R"(
PriorityClass object -- A name for a level of priority.
  1  metadata          meta.ObjectMeta  always
  2  value             int32            always
     -- The higher, the more important; cannot be changed.
  3  globalDefault     bool
     -- True gives this class to pods that name none.
  4  description       string
     -- When to use the class.
  5  preemptionPolicy  *string          allowed=Never|PreemptLowerPriority default="PreemptLowerPriority"
     -- Whether pods of the class may push out less important ones.

PriorityClassList object
  1  metadata  meta.ListMeta    always
  2  items     []PriorityClass  required
)"};

// What both versions have, the same in each: they differ in their names, and in what only the older
// one has (below).
constexpr std::string_view kGroupsAndWorkloads = R"(
AllCompositeDisruptionMode

AllDisruptionMode

BasicSchedulingPolicy

CompositeBasicSchedulingPolicy

CompositeDisruptionMode
  1  single  *SingleCompositeDisruptionMode
  2  all     *AllCompositeDisruptionMode

CompositeGangSchedulingPolicy -- All or nothing, over groups.
  1  minGroupCount  int32  required always
     -- The least number of child groups that must be placeable at once.

CompositePodGroupSchedulingConstraints
  1  topology  []TopologyConstraint

CompositePodGroupSchedulingPolicy
  1  basic  *CompositeBasicSchedulingPolicy
  2  gang   *CompositeGangSchedulingPolicy

CompositePodGroupTemplate -- How a group of groups is made.
  1  name                        string                                   required always
  2  schedulingPolicy            CompositePodGroupSchedulingPolicy        required always
  3  schedulingConstraints       *CompositePodGroupSchedulingConstraints
  4  disruptionMode              *CompositeDisruptionMode
  5  priorityClassName           string
  6  priority                    *int32
  7  preemptionPolicy            *string                                  allowed=Never|PreemptLowerPriority
  8  podGroupTemplates           []PodGroupTemplate                       list=name
  9  compositePodGroupTemplates  []CompositePodGroupTemplate              list=name

DisruptionMode
  1  single  *SingleDisruptionMode
  2  all     *AllDisruptionMode

GangSchedulingPolicy -- All or nothing.
  1  minCount  int32  required always
     -- The least number of pods that must be placeable at once.

PodGroup object -- Pods that are scheduled together.
  1  metadata  meta.ObjectMeta  always
  2  spec      PodGroupSpec     always
  3  status    PodGroupStatus   always

PodGroupList object
  1  metadata  meta.ListMeta  always
  2  items     []PodGroup     required

PodGroupResourceClaim
  1  name                       string   required always
  2  resourceClaimName          *string
  3  resourceClaimTemplateName  *string

PodGroupResourceClaimStatus
  1  name               string   required always
  2  resourceClaimName  *string

PodGroupSchedulingConstraints
  1  topology  []TopologyConstraint

PodGroupSchedulingPolicy
  1  basic  *BasicSchedulingPolicy
  2  gang   *GangSchedulingPolicy

PodGroupSpec
  1  parentCompositePodGroupName  *string
     -- The group this one is part of.
  2  workloadRef                  *WorkloadReference
     -- The template it was made from.
  3  schedulingPolicy             PodGroupSchedulingPolicy        required always
     -- Basic or gang.
  4  schedulingConstraints        *PodGroupSchedulingConstraints
     -- Where the pods must be together.
  5  resourceClaims               []PodGroupResourceClaim         merge=name retainKeys list=name
  6  disruptionMode               *DisruptionMode                 default={"single":{}}
     -- Whether members may be preempted one by one or only together.
  7  priorityClassName            string
  8  priority                     *int32
  9  preemptionPolicy             *string                         allowed=Never|PreemptLowerPriority

PodGroupStatus
  1  conditions             []meta.Condition               merge=type list=type
  2  resourceClaimStatuses  []PodGroupResourceClaimStatus  merge=name retainKeys list=name

PodGroupTemplate -- How a PodGroup of the workload is made.
  1  name                   string                          required always
  2  schedulingPolicy       PodGroupSchedulingPolicy        required always
  3  schedulingConstraints  *PodGroupSchedulingConstraints  always
  4  resourceClaims         []PodGroupResourceClaim         merge=name retainKeys list=name
  5  disruptionMode         *DisruptionMode
  6  priorityClassName      string
  7  priority               *int32
  8  preemptionPolicy       *string                         allowed=Never|PreemptLowerPriority

SingleCompositeDisruptionMode

SingleDisruptionMode

TopologyConstraint
  1  key  string  required always
     -- Nodes with equal values of this label are one domain; the group must fit into one.

TypedLocalObjectReference
  1  apiGroup  string
  2  kind      string  required always
  3  name      string  required always

Workload object -- The intent of a workload: which groups of pods it consists of and how they are scheduled.
  1  metadata  meta.ObjectMeta  always
  2  spec      WorkloadSpec     always

WorkloadList object
  1  metadata  meta.ListMeta  always
  2  items     []Workload     required

WorkloadReference
  1  workloadName  string  required always
  2  templateName  string  required always

WorkloadSpec
  1  controllerRef               *TypedLocalObjectReference
     -- The object that the workload was made for.
  2  podGroupTemplates           []PodGroupTemplate           always list=name
     -- Groups of a flat workload.
  3  compositePodGroupTemplates  []CompositePodGroupTemplate  list=name
     -- Roots of a workload with nested groups.
)";

const Table kSchedulingV1beta1{"scheduling/v1beta1", kGroupsAndWorkloads};
const Table kSchedulingV1alpha3{"scheduling/v1alpha3", kGroupsAndWorkloads};

const Table kSchedulingV1alpha3Only{"scheduling/v1alpha3", R"(
CompositePodGroup object -- Groups that are scheduled together.
  1  metadata  meta.ObjectMeta          always
  2  spec      CompositePodGroupSpec    always
  3  status    CompositePodGroupStatus  always

CompositePodGroupList object
  1  metadata  meta.ListMeta        always
  2  items     []CompositePodGroup  required

CompositePodGroupSpec
  1  parentCompositePodGroupName  *string
  2  workloadRef                  *WorkloadReference                       required
  3  schedulingPolicy             CompositePodGroupSchedulingPolicy        required always
  4  schedulingConstraints        *CompositePodGroupSchedulingConstraints
  5  disruptionMode               *CompositeDisruptionMode                 default={"single":{}}
  6  priorityClassName            string
  7  priority                     *int32
  8  preemptionPolicy             *string                                  allowed=Never|PreemptLowerPriority

CompositePodGroupStatus
  1  conditions  []meta.Condition  merge=type list=type

WorkloadCompositePodGroupAllDisruptionMode

WorkloadCompositePodGroupBasicSchedulingPolicy

WorkloadCompositePodGroupDisruptionMode
  1  single  *WorkloadCompositePodGroupSingleDisruptionMode
  2  all     *WorkloadCompositePodGroupAllDisruptionMode

WorkloadCompositePodGroupGangSchedulingPolicy
  1  minGroupCount  *int32

WorkloadCompositePodGroupSchedulingConstraints
  1  topology  []TopologyConstraint

WorkloadCompositePodGroupSchedulingPolicy
  1  basic  *WorkloadCompositePodGroupBasicSchedulingPolicy
  2  gang   *WorkloadCompositePodGroupGangSchedulingPolicy

WorkloadCompositePodGroupSingleDisruptionMode

WorkloadPodGroupAllDisruptionMode

WorkloadPodGroupBasicSchedulingPolicy

WorkloadPodGroupDisruptionMode
  1  single  *WorkloadPodGroupSingleDisruptionMode
  2  all     *WorkloadPodGroupAllDisruptionMode

WorkloadPodGroupGangSchedulingPolicy
  1  minCount  *int32

WorkloadPodGroupResourceClaim
  1  name                       string   required always
  2  resourceClaimName          *string
  3  resourceClaimTemplateName  *string

WorkloadPodGroupSchedulingConstraints
  1  topology  []TopologyConstraint

WorkloadPodGroupSchedulingPolicy
  1  basic  *WorkloadPodGroupBasicSchedulingPolicy
  2  gang   *WorkloadPodGroupGangSchedulingPolicy

WorkloadPodGroupSingleDisruptionMode
)"};

}  // namespace muster::api::schema
