// How the search puts the pods of one leaf on nodes.
#include <algorithm>
#include <functional>

#include "scheduler/placement/placer.h"
#include "scheduler/placement/search.h"

namespace muster::scheduler {

bool Search::pack(const Task& task, const Domain& domain) {
  const std::vector<std::uint32_t> chosen = lightest(task.item, domain);
  if (static_cast<std::int64_t>(chosen.size()) < needed(task.item)) return false;
  const bool is_indifferent = packing_makes_no_difference(task, domain);
  for (const bool tightly : {false, true}) {
    if (budget_.is_spent()) return false;
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (!pack_quickly(chosen, domain, tightly)) {
      if (is_indifferent) return false;
      continue;
    }
    if (solve(task.next)) {
      undo.keep();
      return true;
    }
    if (is_indifferent) return false;
  }
  if (width_ == Width::Full) return pack_every_way(task, domain);
  is_exhaustive_ = false;
  return false;
}

// Whether it makes no difference, to the group and to the others, which pods stand on which nodes:
// all pods of the tree are alike, and every group has all of the domain or nothing of it; or
// nothing comes after, and pods of one class fill what room there is.
bool Search::packing_makes_no_difference(const Task& task, const Domain& domain) const {
  if (is_one_class_ && domain.cells.size() == 1) return true;
  const GroupTree::Item& item = tree_.items[task.item];
  const std::uint32_t class_index = tree_.members[item.members.front()].class_index;
  return task.next == nullptr && workspace_.counts_exactly(class_index) &&
         item.classes_below[class_index] == item.queued_below;
}

// The members that take the least, the heaviest of them first.
std::vector<std::uint32_t> Search::lightest(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  std::vector<double> weights(tree_.standings.size(), 0);
  for (std::uint32_t s = 0; s < weights.size(); ++s)
    if (item.classes_below[s] > 0) weights[s] = weight_of(s, domain);
  const auto weight = [&](std::uint32_t member) {
    return weights[tree_.members[member].class_index];
  };
  std::vector<std::uint32_t> chosen;
  // A class that no node takes is no choice at all.
  for (const std::uint32_t member : item.members)
    if (workspace_.cap_sum(tree_.members[member].class_index, domain) > 0) chosen.push_back(member);
  std::ranges::stable_sort(chosen, {}, weight);
  chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(needed(id))));
  std::ranges::stable_sort(chosen, std::greater<>{}, weight);
  return chosen;
}

double Search::weight_of(std::uint32_t class_index, const Domain& domain) const {
  const Workspace::Totals totals = workspace_.totals(domain);
  double heaviest = 0;
  for (std::size_t t = 0; t < totals.amounts.size(); ++t)
    if (totals.amounts[t].allocatable > 0)
      heaviest = std::max(heaviest, static_cast<double>(workspace_.wanted(class_index, t)) /
                                        static_cast<double>(totals.amounts[t].allocatable));
  return heaviest;
}

bool Search::pack_quickly(const std::vector<std::uint32_t>& chosen, const Domain& domain,
                          bool tightly) {
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  Arena arena(workspace_, domain);
  for (const std::uint32_t member : chosen) {
    if (!budget_.step()) return false;
    const std::uint32_t class_index = tree_.members[member].class_index;
    const std::optional<NodeId> node =
        tightly ? tightest(class_index, arena) : arena.pick(class_index);
    if (!node) return false;
    put(class_index, *node, member);
  }
  undo.keep();
  return true;
}

// The feasible node with the least room to spare, summed over resources in thousandths of what it
// has.
std::optional<NodeId> Search::tightest(std::uint32_t class_index, Arena& arena) {
  std::optional<NodeId> best;
  std::int64_t best_room = 0;
  budget_.work += arena.nodes().size() / 8;
  const Cluster& cluster = workspace_.cluster();
  for (const NodeId node : arena.nodes()) {
    if (!arena.is_feasible(class_index, node)) continue;
    std::int64_t room = 0;
    for (const ResourceId resource : workspace_.tracked()) {
      const ResourceColumns& columns = cluster.resource(resource);
      if (columns.allocatable[node] > 0)
        room += static_cast<std::int64_t>(
            1000.0 * static_cast<double>(columns.allocatable[node] - columns.requested[node]) /
            static_cast<double>(columns.allocatable[node]));
    }
    if (!best || room < best_room) {
      best = node;
      best_room = room;
    }
  }
  return best;
}

// --- every way ---

bool Search::pack_every_way(const Task& task, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[task.item];
  Packing packing{.task = &task};
  for (std::uint32_t s = 0; s < tree_.standings.size(); ++s)
    if (item.classes_below[s] > 0) packing.classes.push_back(s);
  std::ranges::stable_sort(packing.classes, std::greater<>{}, [&](std::uint32_t class_index) {
    return weight_of(class_index, domain);
  });
  for (const std::uint32_t class_index : packing.classes) {
    packing.members.emplace_back();
    for (const std::uint32_t member : item.members)
      if (tree_.members[member].class_index == class_index)
        packing.members.back().push_back(member);
  }
  for (const CellId cell : domain.cells) {
    const auto nodes = workspace_.topology().nodes(cell);
    if (is_one_class_)
      packing.bins.emplace_back(nodes.begin(), nodes.end());
    else
      for (const NodeId node : nodes) packing.bins.push_back({node});
  }
  return start_turn(packing, 0, needed(task.item));
}

bool Search::start_turn(Packing& packing, std::size_t class_index, std::int64_t left) {
  if (left == 0) return solve(packing.task->next);
  if (class_index == packing.classes.size()) return false;
  Turn turn{.class_index = class_index};
  std::vector<std::pair<Symmetry::Signature, std::size_t>> looks;
  for (std::size_t bin = 0; bin < packing.bins.size(); ++bin) {
    const NodeId first = packing.bins[bin].front();
    if (room_in(packing.classes[class_index], packing.bins[bin]) == 0) continue;
    Symmetry::Signature look;
    if (!is_one_class_) look = symmetry_.of_node(first);
    look.push_back(static_cast<std::int64_t>(index_of(workspace_.topology().cell_of(first))));
    if (!counts_exactly_) look.push_back(static_cast<std::int64_t>(index_of(first)));
    looks.emplace_back(std::move(look), bin);
  }
  budget_.work += 1 + packing.bins.size();
  std::ranges::sort(looks);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    turn.order.push_back(looks[i].second);
    turn.equals_previous.push_back(i > 0 && looks[i].first == looks[i - 1].first);
  }
  turn.counts.resize(looks.size(), 0);
  return fill_bins(packing, turn, 0, left);
}

// Puts pods of the turn's class into bins from `from` on, in every way that does not only swap
// equal bins; then the next class has its turn.
bool Search::fill_bins(Packing& packing, Turn& turn, std::size_t from, std::int64_t left) {
  if (budget_.is_spent() || room_left(packing, turn, from) < left) return false;
  const std::uint32_t class_index = packing.classes[turn.class_index];
  const auto members =
      static_cast<std::int64_t>(packing.members[turn.class_index].size() - turn.used);
  for (std::size_t at = from; left > 0 && members > 0 && at < turn.order.size(); ++at) {
    const std::vector<NodeId>& bin = packing.bins[turn.order[at]];
    std::int64_t most = std::min({room_in(class_index, bin), members, left});
    if (turn.equals_previous[at]) most = std::min(most, turn.counts[at - 1]);
    for (std::int64_t count = most; count > 0; --count) {
      if (budget_.is_spent()) return false;
      Draft::Checkpoint undo = workspace_.draft().checkpoint();
      if (!put_into(packing, turn, bin, count)) continue;
      turn.counts[at] = count;
      turn.used += static_cast<std::size_t>(count);
      const bool placed = fill_bins(packing, turn, at + 1, left - count);
      turn.used -= static_cast<std::size_t>(count);
      turn.counts[at] = 0;
      if (placed) {
        undo.keep();
        return true;
      }
    }
  }
  return start_turn(packing, turn.class_index + 1, left);
}

std::int64_t Search::room_in(std::uint32_t class_index, const std::vector<NodeId>& bin) {
  std::int64_t room = 0;
  for (const NodeId node : bin) room += workspace_.cap(class_index, node);
  return room;
}

// How many pods the bins from `from` on take of this class, and all bins of the later ones.
std::int64_t Search::room_left(const Packing& packing, const Turn& turn, std::size_t from) {
  budget_.work += 1 + packing.bins.size() / 4;
  std::int64_t here = 0;
  for (std::size_t at = from; at < turn.order.size(); ++at)
    here += room_in(packing.classes[turn.class_index], packing.bins[turn.order[at]]);
  std::int64_t sum = std::min(
      here, static_cast<std::int64_t>(packing.members[turn.class_index].size() - turn.used));
  for (std::size_t later = turn.class_index + 1; later < packing.classes.size(); ++later) {
    std::int64_t room = 0;
    for (const auto& bin : packing.bins) room += room_in(packing.classes[later], bin);
    sum += std::min(room, static_cast<std::int64_t>(packing.members[later].size()));
  }
  return sum;
}

bool Search::put_into(Packing& packing, const Turn& turn, const std::vector<NodeId>& bin,
                      std::int64_t count) {
  const std::uint32_t class_index = packing.classes[turn.class_index];
  std::size_t member = turn.used;
  for (const NodeId node : bin)
    while (count > 0 && workspace_.cap(class_index, node) > 0 &&
           workspace_.standing(class_index).key_now(node) != 0) {
      if (!budget_.step()) return false;
      put(class_index, node, packing.members[turn.class_index][member++]);
      --count;
    }
  return count == 0;
}

}  // namespace muster::scheduler
