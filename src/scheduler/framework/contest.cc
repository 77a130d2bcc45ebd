#include "scheduler/framework/contest.h"

#include <algorithm>

namespace muster::scheduler {

void Contest::reset(std::size_t contestants, std::span<const std::uint16_t> groups,
                    std::size_t group_count) {
  vacant_.clear();
  if (groups.empty()) {
    tournaments_.resize(1);
    groups_.clear();
    positions_.clear();
    tournaments_.front().reset(contestants);
    return;
  }
  group_count = std::max<std::size_t>(group_count, 1);
  tournaments_.resize(group_count);
  groups_.assign(groups.begin(), groups.end());
  positions_.resize(contestants);
  std::vector<std::uint32_t> sizes(group_count, 0);
  for (std::size_t i = 0; i < contestants; ++i) positions_[i] = sizes[groups_[i]]++;
  for (std::size_t g = 0; g < group_count; ++g) tournaments_[g].reset(sizes[g]);
}

void Contest::rebuild() {
  for (Tournament& tournament : tournaments_) tournament.rebuild();
}

std::uint64_t& Contest::seat(std::size_t contestant) {
  if (groups_.empty()) return tournaments_.front().keys()[contestant];
  return tournaments_[groups_[contestant]].keys()[positions_[contestant]];
}

std::uint64_t Contest::key(std::size_t contestant) const {
  if (groups_.empty()) return tournaments_.front().key(contestant);
  return tournaments_[groups_[contestant]].key(positions_[contestant]);
}

void Contest::set(std::size_t contestant, std::uint64_t key) {
  if (groups_.empty())
    tournaments_.front().set(contestant, key);
  else
    tournaments_[groups_[contestant]].set(positions_[contestant], key);
}

// Positions that contestants left are filled first, so that a tournament never grows beyond the
// most contestants its group ever had.
void Contest::set(std::size_t contestant, std::uint16_t group, std::uint64_t key) {
  const std::uint16_t before = groups_[contestant];
  if (before != group) {
    tournaments_[before].set(positions_[contestant], 0);
    const std::size_t groups = std::size_t{std::max(before, group)} + 1;
    if (vacant_.size() < groups) vacant_.resize(groups);
    vacant_[before].push_back(positions_[contestant]);
    while (tournaments_.size() <= group) tournaments_.emplace_back().reset(0);
    if (vacant_[group].empty()) {
      positions_[contestant] = static_cast<std::uint32_t>(tournaments_[group].append());
    } else {
      positions_[contestant] = vacant_[group].back();
      vacant_[group].pop_back();
    }
    groups_[contestant] = group;
  }
  tournaments_[group].set(positions_[contestant], key);
}

std::size_t Contest::bytes() const {
  std::size_t sum = groups_.capacity() * 2 + positions_.capacity() * 4;
  for (const auto& positions : vacant_)
    sum += positions.capacity() * 4 + sizeof(std::vector<std::uint32_t>);
  for (const Tournament& tournament : tournaments_) sum += tournament.bytes();
  return sum;
}

}  // namespace muster::scheduler
