#include "scheduler/preemption/eviction_draft.h"

#include <algorithm>

namespace muster::scheduler {

EvictionDraft::EvictionDraft(const GroupTree& tree, Workspace& workspace, const UnitTable& table,
                             std::uint64_t& steps)
    : tree_(tree), workspace_(workspace), table_(table), steps_(steps) {
  for (const Standing* standing : tree.standings) looks_far_ |= standing->follows_moves();
}

void EvictionDraft::evict(std::span<const UnitTable::Pod> pods) {
  for (const UnitTable::Pod& pod : pods) draft().remove(*pod.pods, pod.node, kVictim);
  steps_ += pods.size();
}

void EvictionDraft::put_back(std::span<const UnitTable::Pod> pods) {
  for (const UnitTable::Pod& pod : pods) draft().place(*pod.pods, pod.node, kVictim);
  steps_ += pods.size();
}

std::vector<UnitTable::Pod> EvictionDraft::pods_on(std::uint32_t unit, NodeId node) const {
  std::vector<UnitTable::Pod> pods;
  for (const std::uint32_t pod : table_.on(node))
    if (table_.pods()[pod].unit == unit) pods.push_back(table_.pods()[pod]);
  return pods;
}

bool EvictionDraft::fits(std::size_t class_index, NodeId node) {
  ++steps_;
  const Standing& standing = workspace_.standing(class_index);
  return standing.follows_moves() ? standing.is_feasible(node) : standing.key_now(node) != 0;
}

void EvictionDraft::place(const Places& places) {
  for (std::uint32_t member = 0; member < places.size(); ++member)
    if (places[member])
      workspace_.place(tree_.members[member].class_index, *places[member], member);
  steps_ += places.size();
}

// Judges each pod as if it came last: it is taken off, and its class is asked whether the node
// takes one more.
bool EvictionDraft::still_fit(const Occupied::Node& at) {
  for (const std::uint32_t class_index : at.classes) {
    const Draft::Checkpoint undo = draft().checkpoint();
    draft().remove(workspace_.standing(class_index).pods(), at.node, kVictim);
    if (!fits(class_index, at.node)) return false;
  }
  return true;
}

bool EvictionDraft::all_still_fit(const Occupied& occupied) {
  return std::ranges::all_of(occupied.nodes,
                             [this](const Occupied::Node& node) { return still_fit(node); });
}

Occupied::Occupied(const GroupTree& tree, const Places& places) {
  std::vector<std::pair<NodeId, std::uint32_t>> pairs;
  for (std::uint32_t member = 0; member < places.size(); ++member)
    if (places[member]) pairs.emplace_back(*places[member], tree.members[member].class_index);
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  for (const auto& [node, class_index] : pairs) {
    if (nodes.empty() || nodes.back().node != node) nodes.push_back({node, {}});
    nodes.back().classes.push_back(class_index);
  }
}

const Occupied::Node* Occupied::find(NodeId node) const {
  const auto at = std::ranges::lower_bound(nodes, node, {}, &Node::node);
  return at == nodes.end() || at->node != node ? nullptr : &*at;
}

Places EvictionDraft::placed_since(std::size_t moves) const {
  Places places(tree_.members.size());
  for (const Draft::Move& move : workspace_.draft().moves().subspan(moves))
    if (move.tag != kVictim) places[move.tag] = move.node;
  return places;
}

}  // namespace muster::scheduler
