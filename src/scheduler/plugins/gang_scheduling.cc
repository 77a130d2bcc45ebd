#include "scheduler/plugins/gang_scheduling.h"

#include <fmt/format.h>

namespace muster::scheduler {

// In upstream's words, which say "minCount" of composites too.
std::string GangScheduling::reason(const GroupSpec& group,
                                   const PlacementProgress& progress) const {
  const PlacementStatus now = status(group, progress);
  if (now == PlacementStatus::Success) return {};
  return fmt::format("minCount ({}) {}: {} scheduled, {} remaining", group.minimum,
                     now == PlacementStatus::Wait ? "is not yet satisfied" : "cannot be satisfied",
                     progress.scheduled, progress.remaining);
}

}  // namespace muster::scheduler
