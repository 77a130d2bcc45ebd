#include "scheduler/preemption/lower_columns.h"

#include <algorithm>

namespace muster::scheduler {
namespace {

constexpr char kKey = 0;
constexpr std::int64_t kUnknown = INT64_MAX;

}  // namespace

LowerColumns& LowerColumns::of(Cluster& cluster) {
  std::unique_ptr<Cluster::Derived>& kept = cluster.derived(&kKey);
  if (kept == nullptr) kept = std::make_unique<LowerColumns>(cluster);
  return static_cast<LowerColumns&>(*kept);
}

LowerColumns::Level& LowerColumns::find(std::int32_t priority) {
  ++questions_;
  std::erase_if(levels_, [&](const Level& level) { return level.asked_ + kPatience < questions_; });
  auto at = std::ranges::find(levels_, priority, &Level::priority);
  if (at == levels_.end()) {
    if (levels_.size() == kLevelsMax)
      levels_.erase(std::ranges::min_element(levels_, {}, &Level::asked_));
    at = levels_.emplace(levels_.end());
    at->priority = priority;
  }
  at->asked_ = questions_;
  return *at;
}

const LowerColumns::Level& LowerColumns::below(std::int32_t priority, const RunningTable& table,
                                               std::span<const UnitHome> homes) {
  Level& level = find(priority);
  level.pods.resize(cluster_.rows());
  level.evictable_on_.resize(cluster_.rows());
  for (Column<std::int64_t>& used : level.used)
    if (used.padded() > 0) used.resize(cluster_.rows());
  // A group may change its priority without a word about the rows of its pods.
  std::vector<std::int64_t> judged(homes.size(), kUnknown);
  for (std::size_t leaf = 0; leaf < homes.size(); ++leaf)
    if (homes[leaf].is_known) judged[leaf] = homes[leaf].priority;
  const RowLog& log = cluster_.log();
  if (!level.built_ || judged != level.judged_ || !log.reaches(level.seen_)) {
    for (std::size_t row = 0; row < cluster_.rows(); ++row)
      fill(level, static_cast<NodeId>(row), table, homes);
  } else {
    for (; level.seen_ < log.end(); ++level.seen_)
      if (!log.is_outdated(level.seen_)) fill(level, log.at(level.seen_).node, table, homes);
  }
  level.judged_ = std::move(judged);
  level.seen_ = log.end();
  level.built_ = true;
  return level;
}

void LowerColumns::fill(Level& level, NodeId node, const RunningTable& table,
                        std::span<const UnitHome> homes) {
  ++rows_read_;
  for (Column<std::int64_t>& used : level.used)
    if (used.padded() > 0) used[node] = 0;
  level.pods[node] = 0;
  level.evictable -= level.evictable_on_[node];
  level.evictable_on_[node] = 0;
  if (!cluster_.nodes().contains(node)) return;
  for (const RunningTable::Slot& slot : table.at(node)) {
    if (!is_lower(slot, homes[slot.leaf], level.priority)) continue;
    ++level.pods[node];
    if (!slot.terminating) ++level.evictable_on_[node];
    for (const PodClass::Want& taken : cluster_.pod_class(slot.pods).usage) {
      const std::size_t resource = index_of(taken.resource);
      if (resource >= level.used.size()) level.used.resize(resource + 1);
      if (level.used[resource].padded() == 0) level.used[resource].resize(cluster_.rows());
      level.used[resource][node] += taken.amount;
    }
  }
  level.evictable += level.evictable_on_[node];
}

}  // namespace muster::scheduler
