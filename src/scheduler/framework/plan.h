#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "scheduler/framework/entity.h"
#include "scheduler/framework/preemption_plan.h"

namespace muster::scheduler {

// How an attempt ended, for a pod or a group. Unresolvable: evicting others cannot help either.
// Unresolved: the search stopped at its budget; it is not a "no". Trees that are invalid in
// themselves are never tried (TreeFaults).
enum class Outcome : std::uint8_t {
  Placed,
  Unschedulable,
  Unresolvable,
  Unresolved,
  Error,
};

// A pod and the node it is to run on.
struct Assignment {
  api::ObjectPtr pod;
  std::string node;
};

// What would help a pod that got no node; for autoscalers (docs/guide/autoscaling.md).
enum class WaitsFor : std::uint8_t {
  Nothing,    // that could be said in one word
  Node,       // no node has room for it, beside those of its group that have
  Siblings,   // there is room for it, but not for all that its group needs, or they are not there
  Evictions,  // room is being made for it
};

// A pod that got no node, with upstream's sentence ("0/5 nodes are available: 3 Insufficient cpu,
// …").
struct Refusal {
  api::ObjectPtr pod;
  Outcome outcome = Outcome::Unschedulable;
  std::string message;
  std::vector<std::string> plugins;  // who refused; decides which events wake the pod
  WaitsFor waits_for = WaitsFor::Node;
};

// How much of a group a domain could hold at most: a bound anybody can check against the cluster. A
// group whose every domain is bounded below what it needs is proven infeasible.
struct DomainBound {
  std::string domain;             // label value; empty: anywhere in the parent's domain
  std::int64_t fits_at_most = 0;  // queued pods of the subtree
  std::int64_t needed = 0;        // to the minimum: pods of a leaf, children of a composite
  std::int64_t ready = 0;         // composite: children whose own minimum is not ruled out there
};

// How one group of the tree fared; what its condition will say.
struct GroupVerdict {
  GroupKey key;
  api::ObjectPtr object;
  Outcome outcome = Outcome::Unschedulable;
  std::string message;
  std::string domain;  // chosen domain value, if it has a topology key and was placed
  std::vector<DomainBound> bounds = {};  // of a refused group, the best domains first
};

// Room that is kept for a tree: nobody is evicted, but nobody else of its own or a lower priority
// gets what is freed there.
struct Reservation {
  std::vector<PreemptionPlan::Place> places;
  std::size_t nodes = 0;
  std::uint64_t steps = 0;  // of the search for it
};

// How many placements leaves of a tree had to choose from, and what became of those looked at.
struct PlacementCounts {
  std::uint64_t generated = 0;
  std::uint64_t feasible = 0;
  std::uint64_t infeasible = 0;
};

// What an attempt decided: a value to print, compare, replay, commit. Nothing has happened yet;
// every assignment carries the pod version it was decided on, so a stale one is refused by the
// server.
struct Plan {
  std::vector<Assignment> assignments;
  std::vector<Refusal> refusals;
  std::vector<GroupVerdict> groups;               // root first; empty for lone pods
  std::optional<PreemptionPlan> preemption = {};  // for those that were refused, if it was tried
  // Where a tree that has waited for long will fit once those who run there have ended: the room is
  // kept for it (docs/guide/pending.md).
  std::optional<Reservation> reservation = {};
  PlacementCounts placements = {};
  std::uint64_t steps = 0;      // search steps spent
  std::uint64_t rows_read = 0;  // rows of the node table looked at, to bring caches up to date too
};

}  // namespace muster::scheduler
