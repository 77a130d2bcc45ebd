// The states by which a search recognizes what has failed before.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/placement/search.h"

namespace muster::scheduler {

// What the future of a state depends on: the tasks with their domains, and what the moves since the
// search began have taken, by node. Nodes of one kind were alike then and are in one cell, so pods
// that are counted by kind may stand on any of them. If all pods of the tree are of one class, only
// how many are in each cell matters. Without exact caps no node is like another, and the node
// itself is the kind.
Search::State Search::state_of(const Task& todo) {
  State state;
  for (const Task* task = &todo; task != nullptr; task = task->next) {
    state.push_back(task->item);
    // The domains that a task may be confined to are disjoint, or one begins with the other: the
    // first cell and their number identify one. Domains that plugins generate overlap in any way:
    // each is known by where its list of cells is.
    state.push_back(task->within->cells.empty()
                        ? 0
                        : static_cast<std::uint32_t>(index_of(task->within->cells.front())));
    state.push_back(static_cast<std::uint32_t>(task->within->cells.size()));
    if (!workspace_.topology().has_generated()) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(task->within->cells.data());
    state.push_back(static_cast<std::uint32_t>(at));
    state.push_back(static_cast<std::uint32_t>(at >> 32U));
  }
  state.push_back(static_cast<std::uint32_t>(-1));
  const auto moves = workspace_.draft().moves().subspan(moves_before_);
  budget_.walk(moves.size());
  if (is_one_class_)
    add_cells(state, moves);
  else
    add_nodes(state, moves);
  return state;
}

// How many pods each cell got.
void Search::add_cells(State& state, std::span<const Draft::Move> moves) const {
  std::vector<CellId> cells;
  for (const Draft::Move& move : moves) cells.push_back(workspace_.topology().cell_of(move.node));
  std::ranges::sort(cells);
  for (std::size_t i = 0, end = 0; i < cells.size(); i = end) {
    for (end = i; end < cells.size() && cells[end] == cells[i];) ++end;
    state.push_back(static_cast<std::uint32_t>(index_of(cells[i])));
    state.push_back(static_cast<std::uint32_t>(end - i));
  }
}

// How many pods of which classes each node got: one entry per node, and these in order.
void Search::add_nodes(State& state, std::span<const Draft::Move> moves) const {
  std::vector<std::pair<NodeId, ClassId>> placed;
  for (const Draft::Move& move : moves) placed.emplace_back(move.node, move.pods->id);
  std::ranges::sort(placed);
  State flat;
  std::vector<std::pair<std::size_t, std::size_t>> entries;  // where each begins and ends
  for (std::size_t i = 0, end = 0; i < placed.size(); i = end) {
    const auto [node, pods] = placed[i];
    for (end = i; end < placed.size() && placed[end] == placed[i];) ++end;
    if (i == 0 || placed[i - 1].first != node) {
      entries.emplace_back(flat.size(), 0);
      flat.push_back(counts_exactly_ ? symmetry_.known_kind(node)
                                     : static_cast<std::uint32_t>(index_of(node)));
    }
    flat.push_back(static_cast<std::uint32_t>(index_of(pods)));
    flat.push_back(static_cast<std::uint32_t>(end - i));
    entries.back().second = flat.size();
  }
  const auto entry = [&flat](const std::pair<std::size_t, std::size_t>& at) {
    return std::span(flat).subspan(at.first, at.second - at.first);
  };
  std::ranges::sort(entries, [&](const auto& a, const auto& b) {
    return std::ranges::lexicographical_compare(entry(a), entry(b));
  });
  for (const auto& at : entries) {
    const auto numbers = entry(at);
    state.insert(state.end(), numbers.begin(), numbers.end());
    state.push_back(static_cast<std::uint32_t>(-1));
  }
}

}  // namespace muster::scheduler
