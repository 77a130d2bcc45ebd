#include "scheduler/placement/packing.h"

#include <algorithm>

namespace muster::scheduler {

// --- quickly ---

Packing::Quick Packing::quickly() {
  const std::vector<std::uint32_t> chosen = lightest();
  // A pod whose class no node of the domain takes cannot help, so fewer than needed is a proof.
  if (static_cast<std::int64_t>(chosen.size()) < needed_) return Quick::NoOtherWay;
  const bool is_indifferent = makes_no_difference();
  for (const bool tightly : {false, true}) {
    if (context_.budget.is_spent()) return Quick::NoOtherWay;
    Draft::Checkpoint undo = context_.workspace.draft().checkpoint();
    if (pack(chosen, tightly) && place_rest()) {
      undo.keep();
      return Quick::Placed;
    }
    if (is_indifferent) return Quick::NoOtherWay;
  }
  return Quick::Failed;
}

// Whether it makes no difference, to the group and to the others, which pods are on which nodes.
// Either all pods of the tree are of one class and the domain is one cell: every later group may
// use all of the cell or none of it, and how many more pods fit in it is its sum, wherever the
// earlier ones are. Or nothing comes after, and the pods of the leaf are of one class: caps that do
// not depend on other nodes are filled by any order of placing, so the first failure is final.
bool Packing::makes_no_difference() const {
  if (context_.is_one_class && domain_.cells.size() == 1) return true;
  const GroupTree::Item& item = context_.tree.items[leaf_];
  const std::uint32_t class_index = context_.tree.members[item.members.front()].class_index;
  return !rest_ && context_.workspace.counts_exactly(class_index) &&
         item.classes_below[class_index] == item.queued_below;
}

// The members that take the least, the heaviest of them first.
std::vector<std::uint32_t> Packing::lightest() {
  const GroupTree& tree = context_.tree;
  const GroupTree::Item& item = tree.items[leaf_];
  std::vector<double> weights(tree.standings.size(), 0);
  std::vector<char> is_taken(tree.standings.size(), 0);
  const Workspace::Totals totals = context_.workspace.totals(domain_);
  for (std::uint32_t c = 0; c < weights.size(); ++c) {
    if (item.classes_below[c] == 0) continue;
    weights[c] = weight_of(c, totals);
    is_taken[c] = context_.workspace.cap_sum(c, domain_) > 0;
    context_.budget.walk(domain_.cells.size());
  }
  context_.budget.walk(item.members.size());
  const auto weight = [&](std::uint32_t member) {
    return weights[tree.members[member].class_index];
  };
  std::vector<std::uint32_t> chosen;
  // A class that no node takes is no choice at all.
  for (const std::uint32_t member : item.members)
    if (is_taken[tree.members[member].class_index]) chosen.push_back(member);
  std::ranges::stable_sort(chosen, {}, weight);
  chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(needed_)));
  std::ranges::stable_sort(chosen, std::greater<>{}, weight);
  return chosen;
}

// The share a pod takes of what the domain has of its scarcest resource.
double Packing::weight_of(std::uint32_t class_index, const Workspace::Totals& totals) const {
  double heaviest = 0;
  for (std::size_t t = 0; t < totals.amounts.size(); ++t)
    if (totals.amounts[t].allocatable > 0)
      heaviest = std::max(heaviest, static_cast<double>(context_.workspace.wanted(class_index, t)) /
                                        static_cast<double>(totals.amounts[t].allocatable));
  return heaviest;
}

bool Packing::pack(const std::vector<std::uint32_t>& chosen, bool tightly) {
  Draft::Checkpoint undo = context_.workspace.draft().checkpoint();
  Arena arena(context_.workspace, domain_);
  context_.budget.work += arena.work();
  for (const std::uint32_t member : chosen) {
    if (!context_.budget.step()) return false;
    const std::uint32_t class_index = context_.tree.members[member].class_index;
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
std::optional<NodeId> Packing::tightest(std::uint32_t class_index, Arena& arena) {
  std::optional<NodeId> best;
  std::int64_t best_room = 0;
  context_.budget.work += arena.nodes().size() / 8;
  const Cluster& cluster = context_.workspace.cluster();
  for (const NodeId node : arena.nodes()) {
    if (!arena.is_feasible(class_index, node)) continue;
    std::int64_t room = 0;
    for (const ResourceId resource : context_.workspace.tracked()) {
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

bool Packing::every_way() {
  const GroupTree::Item& item = context_.tree.items[leaf_];
  for (std::uint32_t c = 0; c < context_.tree.standings.size(); ++c)
    if (item.classes_below[c] > 0) classes_.push_back(c);
  const Workspace::Totals totals = context_.workspace.totals(domain_);
  std::ranges::stable_sort(classes_, std::greater<>{}, [&](std::uint32_t class_index) {
    return weight_of(class_index, totals);
  });
  for (const std::uint32_t class_index : classes_) {
    members_.emplace_back();
    for (const std::uint32_t member : item.members)
      if (context_.tree.members[member].class_index == class_index)
        members_.back().push_back(member);
  }
  fill_bins_with_nodes();
  return start_turn(0, needed_);
}

void Packing::fill_bins_with_nodes() {
  for (const CellId cell : domain_.cells) {
    const auto nodes = context_.workspace.topology().nodes(cell);
    if (context_.is_one_class)
      bins_.emplace_back(nodes.begin(), nodes.end());
    else
      for (const NodeId node : nodes) bins_.push_back({node});
  }
}

// Bins that are alike, and in one cell, come next to each other: filling two of them with 3 and 1
// pods or with 1 and 3 leads to the same rest, so only falling counts are tried (see fill). Without
// exact caps nodes that look alike may differ by what is around them, and no two bins are equal.
bool Packing::start_turn(std::size_t at, std::int64_t left) {
  if (left == 0) return place_rest();
  if (at == classes_.size()) return false;
  Turn turn{.at = at};
  std::vector<std::pair<Symmetry::Signature, std::size_t>> signatures;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    const NodeId first = bins_[bin].front();
    if (room_in(classes_[at], bins_[bin]) == 0) continue;
    Symmetry::Signature signature;
    if (!context_.is_one_class) signature = context_.symmetry.of_node(first);
    const CellId cell = context_.workspace.topology().cell_of(first);
    signature.push_back(static_cast<std::int64_t>(index_of(cell)));
    if (!context_.counts_exactly) signature.push_back(static_cast<std::int64_t>(index_of(first)));
    signatures.emplace_back(std::move(signature), bin);
  }
  context_.budget.work += 1 + bins_.size();
  std::ranges::sort(signatures);
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    turn.order.push_back(signatures[i].second);
    turn.equals_previous.push_back(i > 0 && signatures[i].first == signatures[i - 1].first);
  }
  turn.counts.resize(signatures.size(), 0);
  return fill(turn, 0, left);
}

// Puts pods of the turn's class into bins from `from` on, in every way that does not only swap
// equal bins; then the next class has its turn with what is still needed. That covers every way:
// each is a count per class and bin, and the loops run over all counts from the most that fit down
// to none (none is what skipping a bin means).
bool Packing::fill(Turn& turn, std::size_t from, std::int64_t left) {
  if (context_.budget.is_spent() || room_left(turn, from) < left) return false;
  const std::uint32_t class_index = classes_[turn.at];
  const auto members = static_cast<std::int64_t>(members_[turn.at].size() - turn.used);
  for (std::size_t at = from; left > 0 && members > 0 && at < turn.order.size(); ++at) {
    const std::vector<NodeId>& bin = bins_[turn.order[at]];
    std::int64_t most = std::min({room_in(class_index, bin), members, left});
    if (turn.equals_previous[at]) most = std::min(most, turn.counts[at - 1]);
    for (std::int64_t count = most; count > 0; --count) {
      if (context_.budget.is_spent()) return false;
      Draft::Checkpoint undo = context_.workspace.draft().checkpoint();
      if (!put_into(turn, bin, count)) continue;
      turn.counts[at] = count;
      turn.used += static_cast<std::size_t>(count);
      const bool placed = fill(turn, at + 1, left - count);
      turn.used -= static_cast<std::size_t>(count);
      turn.counts[at] = 0;
      if (placed) {
        undo.keep();
        return true;
      }
    }
  }
  return start_turn(turn.at + 1, left);
}

std::int64_t Packing::room_in(std::uint32_t class_index, const std::vector<NodeId>& bin) {
  std::int64_t room = 0;
  for (const NodeId node : bin) room += context_.workspace.cap(class_index, node);
  return room;
}

// At most so many pods can still be placed: the bins from `from` on for this class, all bins for
// the later ones, as if classes did not take room from each other.
std::int64_t Packing::room_left(const Turn& turn, std::size_t from) {
  context_.budget.work += 1 + bins_.size() / 4;
  std::int64_t here = 0;
  for (std::size_t at = from; at < turn.order.size(); ++at)
    here += room_in(classes_[turn.at], bins_[turn.order[at]]);
  std::int64_t sum =
      std::min(here, static_cast<std::int64_t>(members_[turn.at].size() - turn.used));
  for (std::size_t later = turn.at + 1; later < classes_.size(); ++later) {
    std::int64_t room = 0;
    for (const auto& bin : bins_) room += room_in(classes_[later], bin);
    sum += std::min(room, static_cast<std::int64_t>(members_[later].size()));
  }
  return sum;
}

bool Packing::put_into(const Turn& turn, const std::vector<NodeId>& bin, std::int64_t count) {
  const std::uint32_t class_index = classes_[turn.at];
  std::size_t member = turn.used;
  for (const NodeId node : bin)
    while (count > 0 && context_.workspace.cap(class_index, node) > 0 &&
           context_.workspace.standing(class_index).is_feasible_now(node)) {
      if (!context_.budget.step()) return false;
      put(class_index, node, members_[turn.at][member++]);
      --count;
    }
  return count == 0;
}

// The kind of a node is what it was before its first pod: the search's memory of failed states
// counts pods by kind (Search::state_of).
void Packing::put(std::uint32_t class_index, NodeId node, std::uint32_t member) {
  if (!context_.is_one_class) context_.symmetry.kind_of(node);
  context_.workspace.place(class_index, node, member);
}

}  // namespace muster::scheduler
