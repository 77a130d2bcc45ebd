#pragma once

#include <cstdint>
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
  // Whether some node takes a pod of the class as things are.
  bool fits_alone(std::uint32_t class_index) const { return fits_alone_[class_index] != 0; }

 private:
  std::string why_leaf(std::uint32_t item, std::span<const Domain> domains);
  bool is_refused_everywhere(std::uint32_t item) const;
  std::string why_no_domain(std::uint32_t item) const;
  std::string why_composite(std::uint32_t item, std::span<const Domain> domains);
  bool runs_already(std::uint32_t item) const;
  std::int64_t pods_needed(std::uint32_t item) const;
  std::string short_together(std::uint32_t item, std::int64_t fits) const;
  std::string describe(std::uint32_t item, const Domain& domain) const;

  // group_shortage.cc
  std::string nobody_fits(std::uint32_t item, std::span<const Domain> domains) const;
  std::string shortage(std::uint32_t item, const Domain& domain, std::int64_t needed);
  std::string short_in_total(std::uint32_t item, const Domain& domain, std::int64_t needed);
  std::string scarcest(std::uint32_t class_index, const Domain& domain, std::int64_t needed);

  // group_outcome.cc
  void ask_all_nodes();
  bool is_hopeless(std::uint32_t item, const Domain& within);
  // How a group that found no place there would fare if everybody who can be evicted were gone.
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
  std::vector<char> fits_alone_;                   // by class
  std::vector<std::vector<char>> open_;  // [class][cell]: some node accepts or could be freed
};

}  // namespace muster::scheduler
