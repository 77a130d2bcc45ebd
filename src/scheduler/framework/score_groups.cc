#include "scheduler/framework/score_groups.h"

#include <algorithm>

#include "base/check.h"

namespace muster::scheduler {

void ScoreGroups::reset(std::size_t raw_count) {
  raw_count_ = raw_count;
  ids_.clear();
  raws_.clear();
  members_.clear();
  free_.clear();
}

std::optional<ScoreGroups::Id> ScoreGroups::of(const std::vector<std::int64_t>& raws) {
  const auto at = ids_.find(raws);
  if (at != ids_.end()) return at->second;
  if (ids_.size() == kMax) return std::nullopt;
  Id id{};
  if (free_.empty()) {
    id = static_cast<Id>(members_.size());
    members_.push_back(0);
    raws_.insert(raws_.end(), raws.begin(), raws.end());
  } else {
    id = free_.back();
    free_.pop_back();
    std::ranges::copy(raws, raws_.begin() + static_cast<std::ptrdiff_t>(id * raw_count_));
  }
  ids_.emplace(raws, id);
  return id;
}

void ScoreGroups::leave(Id group) {
  CHECK(members_[group] > 0);
  if (--members_[group] > 0) return;
  const std::span<const std::int64_t> gone = raws(group);
  ids_.erase(std::vector<std::int64_t>(gone.begin(), gone.end()));
  free_.push_back(group);
}

std::size_t ScoreGroups::bytes() const {
  return ids_.size() * (64 + raw_count_ * sizeof(std::int64_t)) +
         raws_.capacity() * sizeof(std::int64_t) + members_.capacity() * sizeof(std::uint32_t);
}

}  // namespace muster::scheduler
