#include "scheduler/framework/draft.h"

#include <ranges>

#include "base/check.h"

namespace muster::scheduler {

void Draft::place(const PodClass& pods, NodeId node, std::uint32_t tag) {
  cluster_.place(pods, node);
  apply({&pods, node, tag, Move::Kind::Place});
}

void Draft::remove(const PodClass& pods, NodeId node, std::uint32_t tag) {
  CHECK(cluster_.nodes().contains(node) && cluster_.pods_on()[node] > 0);
  cluster_.unplace(pods, node);
  ++removals_;
  apply({&pods, node, tag, Move::Kind::Remove});
}

void Draft::apply(const Move& move) {
  moves_.push_back(move);
  for (Listener* listener : listeners_) listener->applied(move);
}

void Draft::undo_to(std::size_t size) {
  while (moves_.size() > size) {
    const Move move = moves_.back();
    moves_.pop_back();
    if (move.kind == Move::Kind::Place)
      cluster_.unplace(*move.pods, move.node);
    else
      cluster_.place(*move.pods, move.node);
    for (const auto& listener : std::views::reverse(listeners_)) listener->undone(move);
    if (move.kind == Move::Kind::Remove) --removals_;
  }
}

}  // namespace muster::scheduler
