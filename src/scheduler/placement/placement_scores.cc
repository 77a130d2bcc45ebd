#include "scheduler/placement/placement_scores.h"

#include <algorithm>

namespace muster::scheduler {

PlacementScores::PlacementScores(const Profile& profile, Asked asked) {
  for (const auto& entry : profile.placement_scores())
    if (asked == Asked::All || !entry.plugin->looks_at_nodes()) columns_.push_back({&entry, {}});
}

bool PlacementScores::look_at_nodes(const Profile& profile) {
  return std::ranges::any_of(profile.placement_scores(),
                             [](const auto& entry) { return entry.plugin->looks_at_nodes(); });
}

void PlacementScores::add(const PlacementView& placement) {
  ++count_;
  for (Column& column : columns_) column.scores.push_back(column.entry->plugin->score(placement));
}

std::vector<std::int64_t> PlacementScores::totals() {
  std::vector<std::int64_t> totals(count_, 0);
  for (Column& column : columns_) {
    column.entry->plugin->normalize(column.scores);
    for (std::size_t i = 0; i < count_; ++i)
      totals[i] += column.entry->weight * std::clamp<std::int64_t>(column.scores[i], 0, 100);
  }
  return totals;
}

}  // namespace muster::scheduler
