#include "api/schema/tables.h"

// policy/v1: disruption budgets and evictions. tables.h explains the notation.
namespace muster::api::schema {

const Table kPolicy{"policy/v1", R"(
Eviction object -- Asks a pod to leave, if its disruption budget allows.
  1  metadata       meta.ObjectMeta      always
  2  deleteOptions  *meta.DeleteOptions

PodDisruptionBudget object -- How many pods of a set may be disrupted at once.
  1  metadata  meta.ObjectMeta            always
  2  spec      PodDisruptionBudgetSpec    always
  3  status    PodDisruptionBudgetStatus  always

PodDisruptionBudgetList object
  1  metadata  meta.ListMeta          always
  2  items     []PodDisruptionBudget

PodDisruptionBudgetSpec
  1  minAvailable                *IntOrString
  2  selector                    *meta.LabelSelector  replace atomic
  3  maxUnavailable              *IntOrString
  4  unhealthyPodEvictionPolicy  *string              allowed=AlwaysAllow|IfHealthyBudget

PodDisruptionBudgetStatus
  1  observedGeneration  int64
  2  disruptedPods       {}Time
  3  disruptionsAllowed  int32             always
  4  currentHealthy      int32             always
  5  desiredHealthy      int32             always
  6  expectedPods        int32             always
  7  conditions          []meta.Condition  merge=type list=type
)"};

}  // namespace muster::api::schema
