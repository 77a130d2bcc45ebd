#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/framework/tournament.h"

namespace muster::scheduler {

// How good one node is for one class by what depends on that node alone, packed so that the greater
// key is the better node: local total first, then the earlier name. 0: the node does not take part.
struct ContestKey {
  static std::uint64_t of(std::int64_t local_total, std::uint32_t rank) {
    return (static_cast<std::uint64_t>(local_total + 1) << 32) | (0xffffffffU - rank);
  }
  static std::int64_t local_total(std::uint64_t key) {
    return static_cast<std::int64_t>(key >> 32) - 1;
  }
  static std::uint32_t rank(std::uint64_t key) {
    return 0xffffffffU - static_cast<std::uint32_t>(key);
  }
};

// Contestants in groups, one tournament per group: what upstream normalizes over all feasible nodes
// is the same for a whole group, so only the groups' winners need to be compared.
class Contest {
 public:
  // Starts over. `groups` gives the group of each contestant; empty: there is one group, and nobody
  // will change it.
  void reset(std::size_t contestants, std::span<const std::uint16_t> groups,
             std::size_t group_count);
  // Between reset and rebuild: keys may be written in any order.
  void enter(std::size_t contestant, std::uint64_t key) { seat(contestant) = key; }
  // Only without groups: the keys by contestant.
  std::span<std::uint64_t> keys() { return tournaments_.front().keys(); }
  std::span<const std::uint64_t> keys() const { return tournaments_.front().keys(); }
  void rebuild();

  std::uint64_t key(std::size_t contestant) const;
  void set(std::size_t contestant, std::uint64_t key);
  // The same, for a contestant that may have changed its group; only with groups. New group numbers
  // are fine.
  void set(std::size_t contestant, std::uint16_t group, std::uint64_t key);

  std::size_t group_count() const { return tournaments_.size(); }
  std::uint64_t best_of(std::size_t group) const { return tournaments_[group].best(); }
  // How many of the group take part; goes over all of them.
  std::size_t count_of(std::size_t group) const { return tournaments_[group].count(); }
  std::size_t bytes() const;

 private:
  std::uint64_t& seat(std::size_t contestant);

  std::vector<Tournament> tournaments_;
  std::vector<std::uint16_t> groups_;               // both empty without groups
  std::vector<std::uint32_t> positions_;            // within its group
  std::vector<std::vector<std::uint32_t>> vacant_;  // by group: positions that were left
};

}  // namespace muster::scheduler
