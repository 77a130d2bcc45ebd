// How the placer chooses among the domains of a group when it goes upstream's way.
#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <tuple>

#include "scheduler/placement/placement_scores.h"
#include "scheduler/placement/placer.h"

namespace muster::scheduler {

void Placer::nominated_below(std::uint32_t id, std::vector<CellId>& cells) const {
  NodeId node{};
  for (const std::uint32_t member : tree_.items[id].members)
    if (const std::string& name = tree_.members[member].pending->nominated;
        !name.empty() && workspace_.cluster().find_node(name, node))
      cells.push_back(workspace_.topology().cell_of(node));
  for (const std::uint32_t child : tree_.items[id].children) nominated_below(child, cells);
}

// Where domains overlap, the one that holds most of the nodes. If they do not, it holds all.
const Domain* Placer::promised(std::uint32_t id, std::span<const Domain> domains) const {
  std::vector<CellId> cells;
  nominated_below(id, cells);
  if (cells.empty()) return nullptr;
  if (!workspace_.topology().has_generated()) cells.resize(1);
  const Domain* best = nullptr;
  std::ptrdiff_t most = 0;
  for (const Domain& domain : domains) {
    const auto held = std::ranges::count_if(cells, [&domain](CellId cell) {
      return std::ranges::find(domain.cells, cell) != domain.cells.end();
    });
    if (held <= most) continue;
    best = &domain;
    most = held;
    if (held == std::ssize(cells)) break;
  }
  return best;
}

// A domain as plugins get to see it. Holds what the view refers to.
class Placer::ViewBuilder {
 public:
  // With so many further pods of each class; they are not on the draft.
  ViewBuilder(const Placer& placer, std::uint32_t id, const Domain& domain, std::int64_t pods,
              std::span<const std::int32_t> further)
      : view_{.group = *placer.tree_.items[id].group,
              .name = domain.name,
              .cluster = placer.workspace_.cluster(),
              .pods = pods,
              .amounts = {}} {
    const GroupTree& tree = placer.tree_;
    const Workspace& workspace = placer.workspace_;
    const Workspace::Totals totals = workspace.totals(domain);
    for (std::size_t t = 0; t < totals.amounts.size(); ++t) {
      const Workspace::Amount& amount = totals.amounts[t];
      if (amount.allocatable <= 0) continue;
      std::int64_t used = amount.used;
      bool is_asked_for = t < 2;  // cpu, memory
      for (std::size_t c = 0; c < tree.standings.size(); ++c) {
        if (!further.empty()) used += further[c] * workspace.scored(c, t);
        is_asked_for |= tree.items[id].classes_below[c] > 0 && workspace.wanted(c, t) > 0;
      }
      if (is_asked_for) amounts_.push_back({workspace.tracked()[t], amount.allocatable, used});
    }
    view_.amounts = amounts_;
  }
  // With the nodes, and with what the draft placed since then.
  void add_nodes(const Placer& placer, const Domain& domain, std::size_t moves_before) {
    for (const CellId cell : domain.cells) {
      const auto nodes = placer.workspace_.topology().nodes(cell);
      nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
    }
    for (const Draft::Move& move : placer.workspace_.draft().moves().subspan(moves_before))
      assigned_.push_back({placer.tree_.members[move.tag].pending->pod.get(), move.node});
    view_.nodes = nodes_;
    view_.assigned = assigned_;
  }
  const PlacementView& view() const { return view_; }

 private:
  PlacementView view_;
  boost::container::small_vector<PlacementView::Amount, 6> amounts_;
  std::vector<NodeId> nodes_;
  std::vector<PlacementView::Assigned> assigned_;
};

// Ranks by plugins that need not see where pods go. Only these domains are compared: the rest hold
// fewer pods, and come later.
void Placer::rank(std::uint32_t id, std::span<const Domain> domains,
                  std::vector<Outlook>& outlooks) const {
  const GroupTree::Item& item = tree_.items[id];
  PlacementScores scores(*tree_.profile, PlacementScores::Asked::Counted);
  for (const Outlook& outlook : outlooks)
    if (outlook.holds_all)
      scores.add(ViewBuilder(*this, id, domains[outlook.candidate],
                             item.held_below + item.queued_below, item.classes_below)
                     .view());
  const std::vector<std::int64_t> totals = scores.totals();
  for (std::size_t i = 0; Outlook & outlook : outlooks)
    if (outlook.holds_all) outlook.score = totals[i++];
  std::ranges::sort(outlooks, [](const Outlook& a, const Outlook& b) {
    if (a.holds_all != b.holds_all) return a.holds_all;
    if (a.parts != b.parts) return a.parts < b.parts;
    if (a.has_room != b.has_room) return a.has_room;
    if (a.score != b.score) return a.score > b.score;
    return a.candidate < b.candidate;
  });
}

// Domains that may hold all members come first, the best of them first. If counting tells which is
// best, the first that really holds all is, and the rest need not be looked at (L5, L36). Only if
// none holds all, or plugins look at where pods go, are the scores compared: of all of them, or of
// those that could be simulated within the allowance. Of a preferred key as few domains as possible
// come before that.
bool Placer::choose(std::uint32_t id, std::span<const Domain> domains,
                    std::vector<Outlook>& outlooks) {
  const GroupTree::Item& item = tree_.items[id];
  rank(id, domains, outlooks);
  const bool looks_at_nodes = PlacementScores::look_at_nodes(*tree_.profile);
  PlacementScores scores(*tree_.profile, PlacementScores::Asked::All);
  std::vector<Outlook> tried;
  const std::size_t enough = placements_to_score(domains);
  bool any_holds_all = false;
  bool any_simulated = false;
  for (const Outlook& outlook : outlooks) {
    if (tried.size() >= enough || (any_holds_all && !outlook.holds_all)) break;
    if (any_simulated && simulations_.is_spent()) break;
    const Domain& domain = domains[outlook.candidate];
    const std::chrono::nanoseconds since = start_judging(id);
    if (!outlook.holds_all && !looks_at_nodes && counts_alone(id)) {
      std::vector<std::int32_t> further(tree_.standings.size(), 0);
      further[tree_.members[item.members.front()].class_index] =
          static_cast<std::int32_t>(outlook.at_most);
      tried.push_back(outlook);
      scores.add(ViewBuilder(*this, id, domain, item.held_below + outlook.at_most, further).view());
      count(id, true, since);
      continue;
    }
    any_simulated = true;
    const std::size_t moves_before = workspace_.draft().moves().size();
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (!count(id, simulate(id, domain), since)) continue;
    const auto placed = static_cast<std::int64_t>(undo.moves_since());
    const bool holds_all = placed == item.queued_below;
    if (holds_all && !looks_at_nodes) {
      undo.keep();
      return true;
    }
    ViewBuilder builder(*this, id, domain, item.held_below + placed, {});
    if (looks_at_nodes) builder.add_nodes(*this, domain, moves_before);
    scores.add(builder.view());
    tried.push_back(outlook);
    tried.back().holds_all = holds_all;
    any_holds_all |= holds_all;
  }
  if (tried.empty()) {
    clear_results(id);
    return false;
  }
  const std::vector<std::int64_t> totals = scores.totals();
  for (std::size_t i = 0; i < tried.size(); ++i) tried[i].score = totals[i];
  const auto best = std::ranges::min_element(tried, {}, [](const Outlook& one) {
    return std::tuple(!one.holds_all, one.parts, one.holds_all && !one.has_room, -one.score,
                      one.candidate);
  });
  return simulate(id, domains[best->candidate]);
}

// Upstream's formula where no share is given. If nobody scores, one is as good as another.
std::size_t Placer::placements_to_score(std::span<const Domain> domains) const {
  if (tree_.profile->placement_scores().empty()) return 1;
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

}  // namespace muster::scheduler
