#pragma once

#include <map>
#include <set>
#include <string>

#include "api/views/condition.h"
#include "sim/scenario/stage.h"

namespace muster::sim {

// What can be observed of somebody at a moment, not counting pods that do not exist.
struct Observation {
  int pods = 0;
  int placed = 0;   // hold a node
  int waiting = 0;  // hold none and have not ended
  int ended = 0;
  int gated = 0;
  int running = 0;
  int terminating = 0;
  std::map<std::string, int> nodes;  // how many of the placed are where
};
Observation observe(const Stage& stage, const Cast::Subject& subject);

// What a group, or one of its waiting pods, says about its scheduling; null if it says nothing. For
// a group the condition …InitiallyScheduled, for a pod PodScheduled.
std::optional<api::Condition> condition_of(const Stage& stage, const Cast::Subject& subject);
// Why somebody waits, by its condition; for a group scheduled before, by that of its pods.
std::string message_of(const Stage& stage, const Cast::Subject& subject);

// What its pods without a node wait for, as autoscalers see it: "Node", "Siblings",
// "Evictions" or "nothing".
std::set<std::string> waits_for(const Stage& stage, const Cast::Subject& subject);

// "placed 3 of 4: n1 (2), n2; waits: 0/4 nodes …".
std::string describe(const Stage& stage, const Cast::Subject& subject);

// The cluster as text: domains, their nodes, what each has and who is on it.
std::string cluster_map(const Stage& stage);

}  // namespace muster::sim
