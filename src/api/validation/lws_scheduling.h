#pragma once

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/validation/field_errors.h"

// How LeaderWorkerSets ask to be scheduled: spec.scheduling has three levels, the whole set, each
// replica, each role in a replica. The rules of the API and the builder of Workloads both start
// from here. `set` is a document with metadata and spec.
namespace muster::api {

// Which levels become groups. None: the set says nothing about scheduling.
struct LwsLevels {
  bool set = false;
  bool replica = false;
  bool roles = false;

  bool any() const { return set || replica || roles; }
  int count() const { return (set ? 1 : 0) + (replica ? 1 : 0) + (roles ? 1 : 0); }
  // More than one: the upper ones are groups of groups.
  bool composite() const { return count() > 1; }
  friend bool operator==(const LwsLevels&, const LwsLevels&) = default;
};
LwsLevels lws_levels(const Json& set);

// Contradictions: a gang whose workers wait for their leader, a minimum that is not the
// membership, exclusive placement beside a gang, two priorities. `old` is what the set replaces,
// null on create: what its Workload was made from may not change, except minimums that follow the
// size.
void validate_lws_scheduling(const Json& set, const Json* old, const Gates& gates,
                             FieldErrors& errors);

}  // namespace muster::api
