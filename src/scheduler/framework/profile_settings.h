#pragma once

#include <cstdint>
#include <optional>

namespace muster::scheduler {

// Arguments of the DefaultPreemption plugin, which evicts for lone pods and for groups.
struct PreemptionArgs {
  std::int32_t candidates_percentage = 10;  // minCandidateNodesPercentage
  std::int32_t candidates_min = 100;        // minCandidateNodesAbsolute
  bool violates_budgets = true;             // false: pdbViolations Never
};

// What a profile says beside its plugins.
struct ProfileSettings {
  PreemptionArgs preemption = {};
  // How many of the placements of a group are scored, of a hundred. None: all; 0: the share that
  // upstream finds by the number of placements.
  std::optional<std::int32_t> placements_percentage = {};
};

}  // namespace muster::scheduler
