// How the placer chooses among the domains of a group when it goes upstream's way.
#include <algorithm>
#include <tuple>

#include "scheduler/placement/placer.h"

namespace muster::scheduler {

std::optional<NodeId> Placer::nominated_below(std::uint32_t id) const {
  NodeId node{};
  for (const std::uint32_t member : tree_.items[id].members)
    if (const std::string& name = tree_.members[member].pending->nominated;
        !name.empty() && workspace_.cluster().find_node(name, node))
      return node;
  for (const std::uint32_t child : tree_.items[id].children)
    if (const auto found = nominated_below(child)) return found;
  return std::nullopt;
}

const Domain* Placer::promised(std::uint32_t id, std::span<const Domain> domains) const {
  const std::optional<NodeId> node = nominated_below(id);
  if (!node) return nullptr;
  const CellId cell = workspace_.topology().cell_of(*node);
  for (const Domain& domain : domains)
    if (std::ranges::find(domain.cells, cell) != domain.cells.end()) return &domain;
  return nullptr;
}

// Domains that may hold all members come first, the fullest of them first: the first that really
// does is the best there is, and the rest need not be looked at (L5, L36). Only if none holds all
// are the scores compared. Of a preferred key as few domains as possible come before that.
bool Placer::choose(std::uint32_t id, std::span<const Domain> domains,
                    std::vector<Outlook>& outlooks) {
  const GroupTree::Item& item = tree_.items[id];
  std::ranges::sort(outlooks, [](const Outlook& a, const Outlook& b) {
    if (a.holds_all != b.holds_all) return a.holds_all;
    if (a.parts != b.parts) return a.parts < b.parts;
    if (a.has_room != b.has_room) return a.has_room;
    if (a.score != b.score) return a.score > b.score;
    return a.candidate < b.candidate;
  });
  struct Tried {
    std::size_t candidate;
    std::uint32_t parts;
    std::int64_t pods;
    std::int64_t fullness;
  };
  std::vector<Tried> tried;
  const std::size_t enough = placements_to_score(domains);
  for (const Outlook& outlook : outlooks) {
    if (tried.size() >= enough) break;
    const Domain& domain = domains[outlook.candidate];
    if (!outlook.holds_all && counts_alone(id)) {
      std::vector<std::int32_t> further(tree_.standings.size(), 0);
      further[tree_.members[item.members.front()].class_index] =
          static_cast<std::int32_t>(outlook.at_most);
      tried.push_back({outlook.candidate, outlook.parts, item.held_below + outlook.at_most,
                       fullness(id, domain, further)});
      continue;
    }
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (!simulate(id, domain)) continue;
    const auto placed = static_cast<std::int64_t>(undo.moves_since());
    if (placed == item.queued_below) {
      undo.keep();
      return true;
    }
    tried.push_back({outlook.candidate, outlook.parts, item.held_below + placed,
                     fullness(id, domain, std::vector<std::int32_t>(tree_.standings.size(), 0))});
  }
  if (tried.empty()) {
    clear_placements(id);
    return false;
  }
  std::int64_t most = 1;
  for (const Tried& t : tried) most = std::max(most, t.pods);
  const auto total = [&](const Tried& t) { return t.fullness + t.pods * 100 / most; };
  const auto best = std::ranges::min_element(
      tried, {}, [&](const Tried& t) { return std::tuple(t.parts, -total(t), t.candidate); });
  return simulate(id, domains[best->candidate]);
}

// Upstream's formula where no share is given.
std::size_t Placer::placements_to_score(std::span<const Domain> domains) const {
  if (!options_.placements_percentage) return domains.size();
  auto percentage = static_cast<std::size_t>(*options_.placements_percentage);
  if (percentage == 0) {
    std::size_t nodes = 0;
    for (const Domain& domain : domains) nodes += workspace_.topology().node_count(domain);
    percentage = nodes * 9 / 500 < 95 ? 100 - nodes * 9 / 500 : 5;
  }
  return std::max<std::size_t>(1, domains.size() * percentage / 100);
}

// Whether counting tells how many of a leaf's pods a domain takes: its bound is reached, because
// pods of one class with exact caps do not stand in each other's way.
bool Placer::counts_alone(std::uint32_t id) const {
  const GroupTree::Item& item = tree_.items[id];
  if (!item.is_leaf() || item.members.empty()) return false;
  const std::uint32_t class_index = tree_.members[item.members.front()].class_index;
  return workspace_.counts_exactly(class_index) &&
         item.classes_below[class_index] == item.queued_below;
}

bool Placer::has_room_to_grow(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  if (!item.is_leaf() || item.members.empty()) return true;
  const std::int64_t wanted = item.group->declared_size - item.held;
  if (wanted <= static_cast<std::int64_t>(item.members.size())) return true;
  return workspace_.cap_sum(tree_.members[item.members.front()].class_index, domain) >= wanted;
}

std::int64_t Placer::fullness(std::uint32_t id, const Domain& domain,
                              const std::vector<std::int32_t>& further) const {
  // A hundred times all the memory of a big cluster exceeds 64 bits.
  __extension__ using Wide = __int128;
  const Workspace::Totals totals = workspace_.totals(domain);
  const auto tracked = workspace_.tracked();
  std::int64_t sum = 0;
  std::int64_t resources = 0;
  for (std::size_t t = 0; t < tracked.size(); ++t) {
    const Workspace::Amount& amount = totals.amounts[t];
    if (amount.allocatable <= 0 || tracked[t] == ResourceId::EphemeralStorage) continue;
    std::int64_t used = amount.used;
    bool is_asked_for = t < 2;
    for (std::size_t c = 0; c < tree_.standings.size(); ++c) {
      used += further[c] * workspace_.scored(c, t);
      is_asked_for |= tree_.items[id].classes_below[c] > 0 && workspace_.wanted(c, t) > 0;
    }
    if (!is_asked_for) continue;
    sum += static_cast<std::int64_t>(Wide{100} * std::min(used, amount.allocatable) /
                                     amount.allocatable);
    ++resources;
  }
  return resources == 0 ? 0 : sum / resources;
}

}  // namespace muster::scheduler
