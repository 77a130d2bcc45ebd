#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/framework/plan.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/placer.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler {

// Why the groups of a tree got no place, in one dominant sentence each: "rack a2 comes closest: 14
// of 16 pods fit; short of 2 × nvidia.com/gpu 8". Made only after an attempt has failed; computed
// by the same bounds and filters that decided.
class GroupReport {
 public:
  GroupReport(const GroupTree& tree, Workspace& workspace, Placer& placer, SearchResult answer);

  // The sentence for a group that found no place inside `within`, and whether evictions could
  // change that.
  std::string why(std::uint32_t item, const Domain& within);
  Outcome outcome(std::uint32_t item, const Domain& within);
  // What each candidate domain could hold at most, best first; no more than `at_most` of them.
  std::vector<DomainBound> bounds(std::uint32_t item, const Domain& within, std::size_t at_most);
  // The plugins that keep pods of the class from some node: what could wake the group.
  const std::vector<std::string>& plugins(std::uint32_t class_index) const {
    return plugins_[class_index];
  }
  // What each member of a group without a place waits for, in their order. Asked for all groups, in
  // the order of the tree. `within` as above; null: it would cost too much to look there.
  std::vector<WaitsFor> waits(std::uint32_t item, const Domain* within);
  // Whether the tree lacks room, even if all its members have it one by one.
  bool needs_a_node() const;

 private:
  // group_waits.cc
  // The domain that comes closest, and what it holds at most.
  struct Closest {
    const Domain* domain = nullptr;
    DomainBound bound = {};
  };
  Closest closest(std::uint32_t item, std::span<const Domain> domains);
  // What a domain has room for; without a domain: anything.
  struct Room {
    std::optional<Domain> domain = {};
    Workspace* workspace = nullptr;
    std::int64_t pods = 0;
    std::map<std::uint32_t, std::int64_t> by_class = {};  // of those asked for

    std::int64_t left(std::uint32_t class_index);  // how many more of the class
    void use(std::uint32_t class_index, std::int64_t count);
  };
  Room room(std::uint32_t item, const Domain& within);
  // Whether it, or a group above it, waits for missing pods or groups, or for running ones to
  // go.
  bool lacks_others(std::uint32_t item) const;

  // Why it has no place however much room there is; empty if room would do.
  std::string why_beyond_room(std::uint32_t item) const;
  std::string why_leaf(std::uint32_t item, std::span<const Domain> domains);
  bool is_refused_everywhere(std::uint32_t item) const;
  std::string why_no_domain(std::uint32_t item) const;
  std::string why_composite(std::uint32_t item, std::span<const Domain> domains);
  bool runs_already(std::uint32_t item) const;
  std::int64_t pods_needed(std::uint32_t item) const;
  std::string short_together(std::uint32_t item, const Domain& domain, std::int64_t fits);
  std::string tightest(std::uint32_t item, const Domain& within, std::int64_t needed);
  std::string describe(std::uint32_t item, const Domain& domain) const;

  // group_shortage.cc
  std::string nobody_fits(std::uint32_t item, std::span<const Domain> domains) const;
  std::string shortage(std::uint32_t item, const Domain& domain, std::int64_t needed);
  std::string short_in_total(std::uint32_t item, const Domain& domain, std::int64_t needed);
  std::string scarcest(std::uint32_t class_index, const Domain& domain, std::int64_t needed);

  // group_outcome.cc
  void ask_all_nodes();
  bool is_hopeless(std::uint32_t item, const Domain& within);
  // How a group that found no place there would fare with every evictable pod gone.
  PlacementProgress if_others_left(std::uint32_t item, const Domain& domain);
  // The search stopped before it could say no, for the whole tree or for this group alone.
  bool is_unresolved(std::uint32_t item) const {
    return answer_ == SearchResult::Unresolved || placer_.is_unresolved(item);
  }

  const GroupTree& tree_;
  Workspace& workspace_;
  Placer& placer_;
  SearchResult answer_;
  std::vector<std::vector<std::string>> plugins_;  // by class
  std::vector<char> fits_alone_;                   // by class: some node takes a pod as things are
  std::optional<Room> tree_room_;
  bool lacks_anybody_ = false;
  std::vector<std::vector<char>> open_;  // [class][cell]: some node accepts or could be freed
};

}  // namespace muster::scheduler
