#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::scheduler {

// Arguments of the DefaultPreemption plugin, which evicts for lone pods and for groups. The first
// two are upstream's: every node is looked at here, so that they are accepted and change nothing.
struct PreemptionArgs {
  // Upstream: the placement that is best on a cluster without lower pods, then as many of them kept
  // as fit. Search: also placements that need fewer and less important victims.
  enum class Mode : std::uint8_t { Search, Upstream };

  std::int32_t candidates_percentage = 10;  // minCandidateNodesPercentage
  std::int32_t candidates_min = 100;        // minCandidateNodesAbsolute
  bool violates_budgets = true;             // false: pdbViolations Never
  Mode mode = Mode::Search;
  // A victim that has not ended this long after it was asked to is no longer waited for (L22).
  Duration victim_patience = std::chrono::minutes{2};
  // Moves on the draft, and nodes looked at, that one search may spend.
  std::uint64_t steps_max = 2'000'000;
  // Room is kept for a tree that has waited this long (0: never), on at most this percentage of the
  // nodes for all such trees together (L7).
  Duration reserve_after = std::chrono::minutes{10};
  std::int32_t reserve_nodes_percentage = 10;
};

// Extended resources that are not compared with what a node has: somebody else looks after them.
struct IgnoredResources {
  std::vector<std::string> names = {};
  std::vector<std::string> groups = {};  // the part before the slash

  bool contains(std::string_view resource) const;
};

// What a profile sets besides its plugins.
struct ProfileSettings {
  IgnoredResources ignored = {};
  PreemptionArgs preemption = {};
  // What percentage of a group's placements is scored. None: all; 0: the share that upstream
  // derives from the number of placements.
  std::optional<std::int32_t> placements_percentage = {};
  // Node labels over which pods of one service or set spread if they set no constraints themselves.
  std::vector<std::string> default_spread_keys = {};
  // Node labels that arguments of plugins name: known for every node, whether or not a pod asks.
  std::vector<std::string> node_labels = {};
};

}  // namespace muster::scheduler
