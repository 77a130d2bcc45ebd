#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/gates/gates.h"
#include "base/time.h"
#include "explain/explanation.h"
#include "explain/objects.h"

namespace muster::explain {

// A tree of groups that waits for nodes, or lone pods of one class and priority that do.
struct WaitingLine {
  std::string kind;  // "PodGroup", "CompositePodGroup", "Pod"
  std::string name_space;
  std::string name;         // of the root; of the first of the pods
  std::int64_t pods = 0;    // without a node
  std::int64_t placed = 0;  // pods of the tree that have one, or have finished
  std::int32_t priority = 0;
  Time since;             // its oldest pod without a node; the root, if it has none
  bool in_queue = false;  // it may be tried; `ahead` says how many come before it
  std::int64_t ahead = 0;
  bool was_planned = true;  // false: the budget was used up before its turn
  State state = State::Held;
  std::string reason;  // one sentence without a full stop; empty if it fits now
  // That it asks for, if not for one whose profile is known.
  std::string other_scheduler = {};
};

// Everything that waits, in the order of the queue; then what other schedulers may try, as if they
// had one queue; what may not be tried comes last.
struct Overview {
  std::vector<WaitingLine> lines;
  std::int64_t trees = 0;
  std::int64_t lone_pods = 0;
  Time read_at;
};

struct OverviewOptions {
  // All attempts together.
  std::uint64_t attempts_max = 2'000;
  std::uint64_t steps_max = 4'000'000;
  api::Gates gates = {};
  std::string name_space = {};  // only what waits there is listed; all of it is planned
};

// Plans everything that waits in queue order, each tree and class at most twice: as if it were
// alone, and after those before it. Nothing is known of the profiles of other schedulers, so they
// are taken to be like the first one. A pure function.
Overview overview(const Objects& objects, const scheduler::Profiles& profiles,
                  const OverviewOptions& options);

// A table for people; lines are cut to `width` columns unless it is 0.
std::string render_text(const Overview& overview, std::size_t width);
std::string render_json(const Overview& overview);

}  // namespace muster::explain
