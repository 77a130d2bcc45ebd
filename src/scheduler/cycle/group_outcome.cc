// Whether evictions could help a group that found no place.
#include <algorithm>

#include "scheduler/cycle/group_report.h"
#include "scheduler/framework/counted_wants.h"

namespace muster::scheduler {
namespace {

// For this many classes of pods every node is asked. A tree with more is woken whenever room is
// made, and is never called hopeless.
constexpr std::size_t kClassesAskedMax = 64;

// Whether the filter that refuses a node asks about other pods: siblings that are placed first may
// change its answer, unless its cap rules out the node for good.
bool may_accept_later(const Standing& standing, const Standing::Answer& answer, NodeId node) {
  return std::ranges::any_of(standing.filters(), [&](const NamedFilter& filter) {
    return filter.name == answer.plugin && filter.pass->follows_moves() &&
           filter.pass->cap_at(node) > 0;
  });
}

}  // namespace

// Every node is asked once per class, and what is kept of the answers is what the sentences need:
// who refuses at all (that is what could wake the group), and in which cells an eviction could make
// room.
void GroupReport::ask_all_nodes() {
  const Topology& topology = workspace_.topology();
  plugins_.resize(tree_.standings.size());
  fits_alone_.resize(tree_.standings.size(), 0);
  open_.assign(tree_.standings.size(), std::vector<char>(topology.cell_count(), 0));
  for (std::size_t s = 0; s < tree_.standings.size(); ++s) {
    if (s >= kClassesAskedMax) {
      open_[s].assign(open_[s].size(), 1);
      fits_alone_[s] = 1;
      continue;
    }
    const Standing& standing = workspace_.standing(s);
    if (const auto& everywhere = standing.refused_everywhere()) {
      if (!everywhere->plugin.empty()) plugins_[s].emplace_back(everywhere->plugin);
      for (const std::string_view plugin : standing.narrowing()) plugins_[s].emplace_back(plugin);
      continue;
    }
    std::vector<char> refuses(standing.filters().size(), 0);
    bool any_accepts = false;
    for (std::size_t cell = 0; cell < topology.cell_count(); ++cell)
      for (const NodeId node : topology.nodes(static_cast<CellId>(cell))) {
        if (standing.is_feasible(
                node)) {  // as of the start of the attempt, which is what evictions start from
          open_[s][cell] = 1;
          any_accepts = true;
          continue;
        }
        const Standing::Answer answer = standing.ask(node);
        if (answer.verdict.remedy() == Remedy::Eviction || may_accept_later(standing, answer, node))
          open_[s][cell] = 1;
        for (std::size_t f = 0; f < refuses.size(); ++f)
          refuses[f] |= standing.filters()[f].name == answer.plugin;
      }
    fits_alone_[s] = any_accepts ? 1 : 0;
    for (std::size_t f = 0; f < refuses.size(); ++f)
      // Nodes that take some pods, but not enough of them, refuse by room.
      if (refuses[f] || (any_accepts && standing.filters()[f].name == kRoomFilter))
        plugins_[s].emplace_back(standing.filters()[f].name);
  }
}

Outcome GroupReport::outcome(std::uint32_t id, const Domain& within) {
  if (is_hopeless(id, within)) return Outcome::Unresolvable;
  return is_unresolved(id) && placer_.bounds().can_meet_minimum(id, within)
             ? Outcome::Unresolved
             : Outcome::Unschedulable;
}

// KEP-6012's arithmetic: unresolvable if even with everything evictable gone, in no placement, the
// minimum could be met. Pods that are not there, and static refusals, are beyond eviction. A group
// that insists on a preferred domain will not do so for long.
bool GroupReport::is_hopeless(std::uint32_t id, const Domain& within) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.insists) return false;
  const std::span<const Domain> domains = placer_.bounds().widest(id, within);
  return std::ranges::all_of(domains, [&](const Domain& domain) {
    return status_of(item.minimum, if_others_left(id, domain)) ==
           PlacementStatus::UnschedulableAndUnresolvable;
  });
}

PlacementProgress GroupReport::if_others_left(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  PlacementProgress progress;
  if (!item.is_leaf()) {
    for (const std::uint32_t child : item.children)
      ++(is_hopeless(child, domain) ? progress.unresolvable : progress.unschedulable);
    return progress;
  }
  progress.scheduled = item.held;
  if (item.missing() == 0) return progress;
  for (std::size_t s = 0; s < tree_.standings.size(); ++s) {
    const bool is_open = std::ranges::any_of(
        domain.cells, [&](CellId cell) { return open_[s][index_of(cell)] != 0; });
    (is_open ? progress.unschedulable : progress.unresolvable) += item.classes_below[s];
  }
  return progress;
}

}  // namespace muster::scheduler
