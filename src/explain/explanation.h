#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explain/objects.h"
#include "scheduler/framework/entity.h"

namespace muster::explain {

// The state of a group or pod.
enum class State : std::uint8_t {
  Scheduled,          // its minimum runs or has run
  FitsNow,            // an attempt now would place it
  BehindOthers,       // it would fit, but those before it in the queue take the room
  Unschedulable,      // proven: there is no place
  Unresolved,         // the search ended at its budget; it may fit
  WaitsByPreference,  // it would fit, but waits a while for the topology it prefers
  Missing,            // the object itself does not exist, though others name it
  BelowMinimum,       // not enough pods, or groups, exist
  Gated,              // pods carry scheduling gates
  Held,               // ready, but a group above it is not
  Invalid,            // the tree or its pods contradict each other
  Terminating,        // it is being deleted
};

// How much of a group one of its domains could hold.
struct Closeness {
  std::string domain;     // label value, or the name of a placement
  std::int64_t fits = 0;  // pods of a PodGroup, child groups of a composite
  std::int64_t needed = 0;
};

// One group of the tree.
struct Level {
  scheduler::GroupKey key;
  int depth = 0;
  State state = State::Held;
  bool gang = false;
  std::int64_t minimum = 1;  // pods of a PodGroup, child groups of a composite
  std::string topology_key;
  // Plugins that name sets of nodes, one of which must hold it; none: only its topology key counts.
  std::vector<std::string> generators = {};
  // Pods of a PodGroup; child groups of a composite.
  std::int64_t total = 0;
  std::int64_t scheduled = 0;
  std::int64_t waiting = 0;
  std::int64_t gated = 0;
  std::int64_t lost = 0;           // failed or terminating
  std::string domain;              // where it is, or would be placed, if it is confined
  std::string why;                 // one sentence without a full stop; empty if all is well
  std::vector<Closeness> closest;  // the best domains first
  std::int64_t domains = 0;        // how many there are
  bool is_subject = false;         // the question was about it

  // Its pods must be in one domain.
  bool is_confined() const { return !topology_key.empty() || !generators.empty(); }
};

// How the nodes judge waiting pods that are all alike.
struct NodeReasons {
  std::string sample;       // namespace/name of one of the pods
  std::string asks_for;     // "cpu 4, nvidia.com/gpu 8"
  std::int64_t pods = 0;    // how many are like it
  std::string where;        // "rack r1": the only nodes it may use
  std::int64_t nodes = 0;   // living nodes, there
  std::int64_t accept = 0;  // nodes with room for at least one
  std::vector<std::pair<std::string, std::int64_t>> refusals;  // reason, nodes; most nodes first
};

enum class RelaxationKind : std::uint8_t {
  SmallerMinimum,
  WiderTopology,
  NoTopology,
  LabelNodes,
  NoPlacements,
  MoreNodes,
  Uncordon,
  Untaint,
  OthersFinish,
  ShorterWait,
};

// A change that was checked by planning it: with it, the subject fits.
struct Relaxation {
  RelaxationKind kind{};
  std::string sentence;     // "if minCount of podgroup train is 14 or less"
  std::string command;      // what a user may type to make it; empty if it takes several commands
  std::int64_t amount = 0;  // the largest minimum, the number of nodes
  std::string domain;       // where it would then be placed, if it has a topology key
  Edits edits;              // the change itself
};

// Where pods run, or would.
struct Placement {
  std::string node;
  std::int64_t pods = 0;
};

// The object that groups were made for: the row above all its trees.
struct OwnerLine {
  std::string kind;
  std::string name;
  std::int64_t groups = 0;     // topmost ones
  std::int64_t scheduled = 0;  // of them
  std::int64_t left_out = 0;   // of the picture
};

// Why a group or a pod is where it is, or nowhere. A value: renderers turn it into text or JSON.
struct Explanation {
  std::string kind;  // "PodGroup", "CompositePodGroup", "Pod"
  std::string name_space;
  std::string name;
  State state = State::Held;
  std::string sentence;   // the one dominant reason, with a full stop
  std::string proof;      // the proof of a "no", or that there is none; empty if it is not a "no"
  std::string evictions;  // what preemption would evict for it; empty if nothing
  std::string note;       // what could not be checked; empty if all was
  std::vector<std::string> no_such_label;  // labels that are asked for and that no node has
  std::vector<std::string> ahead;    // who comes before it in the queue, if they are in the way
  std::optional<OwnerLine> owner;    // if it is the subject; `tree` then holds all its trees
  std::vector<Level> tree;           // root first, parents before children; empty for a lone pod
  std::vector<NodeReasons> reasons;  // of pods that find no node
  std::vector<Relaxation> relaxations;
  bool tried_relaxations = false;
  bool all_tried = true;              // false: the budget ended before every relaxation was tried
  std::vector<Placement> placements;  // by node name
  std::uint64_t steps = 0;            // of the search
};

}  // namespace muster::explain
