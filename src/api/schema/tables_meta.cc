#include "api/schema/tables.h"

// meta/v1: what every object carries, and the bodies of requests and errors. tables.h explains the
// notation.
namespace muster::api::schema {

const Table kMeta{"meta/v1", R"(
Condition -- One observation about an object.
  1  type                string  required always
     -- What is observed; one entry per type.
  2  status              string  required always
     -- True, False or Unknown.
  3  observedGeneration  int64
     -- The generation this was observed on.
  4  lastTransitionTime  Time    required always
     -- When the status last changed.
  5  reason              string  required always
     -- A word for programs.
  6  message             string  required always
     -- A sentence for people.

DeleteOptions object -- How to delete.
  1  gracePeriodSeconds                                *int64
  2  preconditions                                     *Preconditions
  3  orphanDependents                                  *bool
  4  propagationPolicy                                 *string
  5  dryRun                                            []string
  6  ignoreStoreReadErrorWithClusterBreakingPotential  *bool

FieldSelectorRequirement
  1  key       string    required always
  2  operator  string    required always
  3  values    []string

LabelSelector -- Selects objects by label; all parts must hold, and an empty selector takes everything.
  1  matchLabels       {}string
     -- Pairs that must be present.
  2  matchExpressions  []LabelSelectorRequirement
     -- Conditions on label keys.

LabelSelectorRequirement -- A condition on one label key.
  1  key       string    required always
  2  operator  string    required always
     -- In, NotIn, Exists or DoesNotExist.
  3  values    []string

List object
  1  metadata  ListMeta  always
  2  items     []Any     required

ListMeta
  1  selfLink            string
  2  resourceVersion     string
  3  continue            string
  4  remainingItemCount  *int64
  5  shardInfo           *ShardInfo

ManagedFieldsEntry
  1  manager      string
  2  operation    string
  3  apiVersion   string
  4  time         *Time
  6  fieldsType   string
  7  fieldsV1     *Any
  8  subresource  string

ObjectMeta -- What every stored object says about itself.
   1  name                        string
      -- Unique within the namespace; cannot be changed.
   2  generateName                string
      -- If name is empty, the server makes one from this prefix.
   3  namespace                   string
      -- The room in which the name is unique; empty for cluster-scoped kinds.
   4  selfLink                    string
   5  uid                         string
      -- Chosen by the server; no two objects ever share one.
   6  resourceVersion             string
      -- The revision of the last write; send it back to be sure nobody wrote in between.
   7  generation                  int64
      -- Counts changes of the desired state.
   8  creationTimestamp           Time
      -- When the server stored the object first.
   9  deletionTimestamp           *Time
      -- When the object is to be gone; set by the server once deletion was asked for.
  10  deletionGracePeriodSeconds  *int64
      -- How long a graceful deletion may take.
  11  labels                      {}string
      -- Short pairs to select objects by.
  12  annotations                 {}string
      -- Pairs for tools and people; not selectable.
  13  ownerReferences             []OwnerReference      merge=uid list=uid
      -- Objects this one depends on; it is collected when all of them are gone.
  14  finalizers                  []string              merge list=set
      -- Parties that must act before the object may disappear.
  17  managedFields               []ManagedFieldsEntry
      -- Who set which field.

OwnerReference -- Points at an owner in the same namespace, or at a cluster-scoped one.
  1  kind                string  required always
  3  name                string  required always
  4  uid                 string  required always
  5  apiVersion          string  required always
  6  controller          *bool
     -- True for the one owner that manages this object.
  7  blockOwnerDeletion  *bool
     -- True if a foreground deletion of the owner waits for this object.

PartialObjectMetadata object
  1  metadata  ObjectMeta  always

PartialObjectMetadataList object
  1  metadata  ListMeta                 always
  2  items     []PartialObjectMetadata  required

Preconditions
  1  uid              *string
  2  resourceVersion  *string

ShardInfo
  1  selector  string  required always

Status object -- The outcome of a request that returns no object.
  1  metadata  ListMeta        always
  2  status    string
  3  message   string
  4  reason    string
  5  details   *StatusDetails
  6  code      int32

StatusCause
  1  reason   string
  2  message  string
  3  field    string

StatusDetails
  1  name               string
  2  group              string
  3  kind               string
  4  causes             []StatusCause
  5  retryAfterSeconds  int32
  6  uid                string

WatchEvent
  1  type    string  required always
  2  object  Any     required
)"};

}  // namespace muster::api::schema
