#include "scheduler/queue/stranded_leaves.h"

#include <algorithm>

namespace muster::scheduler {

void StrandedLeaves::update(const GroupKey& leaf, bool has_pending, Time now) {
  // A cycle has an anchor: no group is missing there, and TreeFaults reports it.
  if (!has_pending || forest_.anchor_of(leaf)) {
    leaves_.erase(leaf);
    return;
  }
  const auto [at, is_new] = leaves_.try_emplace(leaf, Missing{now, ""});
  if (is_new || at->second.reported.empty()) return;
  if (at->second.reported != forest_.why_no_root(leaf)) at->second = {now, ""};
}

std::vector<StrandedLeaves::Report> StrandedLeaves::drain(Time now) {
  std::vector<Report> out;
  for (auto& [leaf, missing] : leaves_) {
    if (!missing.reported.empty() || missing.since + patience_ > now) continue;
    missing.reported = forest_.why_no_root(leaf);
    out.push_back({leaf, missing.reported});
  }
  return out;
}

std::optional<Time> StrandedLeaves::next_deadline() const {
  std::optional<Time> next;
  for (const auto& [leaf, missing] : leaves_)
    if (missing.reported.empty())
      next = std::min(next.value_or(Time::max()), missing.since + patience_);
  return next;
}

}  // namespace muster::scheduler
