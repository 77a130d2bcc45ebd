#include "scheduler/queue/stranded_leaves.h"

namespace muster::scheduler {

void StrandedLeaves::forget_due(const GroupKey& leaf, const Missing& missing) {
  if (missing.reported.empty()) due_.erase({missing.since + patience_, leaf});
}

void StrandedLeaves::update(const GroupKey& leaf, bool has_pending, Time now) {
  const auto known = leaves_.find(leaf);
  // A cycle has an anchor: no group is missing there, and TreeFaults reports it.
  if (!has_pending || forest_.anchor_of(leaf)) {
    if (known == leaves_.end()) return;
    forget_due(leaf, known->second);
    leaves_.erase(known);
    return;
  }
  const bool is_reported = known != leaves_.end() && !known->second.reported.empty();
  if (known != leaves_.end() &&
      (!is_reported || known->second.reported == forest_.why_no_root(leaf)))
    return;
  leaves_.insert_or_assign(leaf, Missing{now, ""});
  due_.emplace(now + patience_, leaf);
}

std::vector<StrandedLeaves::Report> StrandedLeaves::drain(Time now) {
  constexpr std::size_t kAtOnce = 256;
  std::vector<Report> out;
  while (!due_.empty() && due_.begin()->first <= now && out.size() < kAtOnce) {
    const GroupKey leaf = due_.begin()->second;
    due_.erase(due_.begin());
    if (forest_.anchor_of(leaf)) {  // what was missing has come, which was not said yet
      leaves_.erase(leaf);
      continue;
    }
    std::string& reported = leaves_.at(leaf).reported;
    reported = forest_.why_no_root(leaf);
    out.push_back({leaf, reported});
  }
  return out;
}

std::optional<Time> StrandedLeaves::next_deadline() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace muster::scheduler
