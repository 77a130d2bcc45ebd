#include "api/schema/tables.h"

// scheduling.muster.dev: what Muster's own server offers beyond Kubernetes. tables.h explains the
// notation.
namespace muster::api::schema {

const Table kMusterV1alpha1{"muster/v1alpha1", R"(
Explanation object -- Why a group or a pod waits, and what would help. It is asked for by creating the subresource explanation; nothing is stored.
  1  metadata  meta.ObjectMeta    always
  2  status    ExplanationStatus  always
  3  spec      ExplanationSpec

ExplanationOwner -- An object that groups were made for, in the same namespace.
  1  apiGroup  string  required always
  2  kind      string  required always
  3  name      string  required always

ExplanationSpec
  1  owner  ExplanationOwner
     -- Explains all groups that were made for this object, of which the one in the path is one.

ExplanationStatus
  1  state     string
     -- How it stands, in one word: Scheduled, FitsNow, BehindOthers, Unschedulable, Unresolved, ...
  2  sentence  string
     -- The dominant reason.
  3  text      string
     -- The whole explanation as people read it.
  4  details   Any
     -- The same for programs.

GroupBinding object -- Binds the pods of a group tree to nodes, all of them or none. It is a request, not a stored object: it can only be created.
  1  metadata  meta.ObjectMeta     always
  2  spec      GroupBindingSpec    always
  3  status    GroupBindingStatus  always

GroupBindingSpec
  1  root         GroupReference     required always
     -- The root of the tree that all pods and groups below belong to.
  2  pods         []PodAssignment    list=name
     -- The pods to bind, at most 10000. Each is bound as by pods/binding.
  3  nominations  []PodAssignment    list=name
     -- Pods that get status.nominatedNodeName and are not bound yet.
  4  conditions   []GroupObservation
     -- What the groups of the tree are to report in their status.

GroupBindingStatus
  1  bound            int32   always
     -- How many pods of the list are bound to their node now.
  2  resourceVersion  string
     -- All of it holds from this resourceVersion on, and nothing of it before.

GroupCondition
  1  type                string  required always
     -- PodGroupInitiallyScheduled, CompositePodGroupInitiallyScheduled or DisruptionTarget.
  2  status              string  required always
     -- True, False or Unknown. Its last transition is now if it differs from what the group says.
  3  observedGeneration  int64
     -- The generation this was observed on.
  4  reason              string  required always
     -- A word for programs.
  5  message             string
     -- A sentence for people.

GroupObservation -- A condition of one group.
  1  kind       string          required always allowed=PodGroup|CompositePodGroup
  2  name       string          required always
  3  uid        string
     -- If given, no other group of the same name will do.
  4  condition  GroupCondition  required always

GroupReference
  1  kind  string  required always allowed=PodGroup|CompositePodGroup
  2  name  string  required always
  3  uid   string
     -- If given, no other group of the same name will do.

PodAssignment -- A pod and a node for it.
  1  name             string  required always
  2  uid              string  required always
     -- No other pod of the same name will do.
  3  resourceVersion  string
     -- If given, the pod must not have changed since.
  4  nodeName         string  required always
)"};

}  // namespace muster::api::schema
