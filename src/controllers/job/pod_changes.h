#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controllers/job/tally.h"

namespace muster::controllers {

// How many pods are made or removed in one look.
inline constexpr std::int64_t kPodChangesMax = 500;

struct NewPod {
  std::optional<std::int32_t> index;  // of Indexed Jobs
  std::int32_t index_failures = 0;    // with backoffLimitPerIndex: of its index so far
  std::int32_t ignored_index_failures = 0;
};

// Which pods a Job should have more, or no longer. Never both at once.
struct PodChanges {
  std::vector<const JobPod*> remove;
  std::vector<NewPod> create;
  std::optional<Time> again;  // when there may be something to do because a pause is over
};

// `not_before`: until then no pods are made in place of those that failed.
PodChanges find_pod_changes(const JobState& state, const Tally& tally,
                            std::optional<Time> not_before);

}  // namespace muster::controllers
