#include "scheduler/framework/draft.h"

#include <ranges>

namespace muster::scheduler {

void Draft::place(const PodClass& pods, NodeId node, std::uint32_t tag) {
  cluster_.place(pods, node);
  moves_.push_back({&pods, node, tag});
  for (Listener* listener : listeners_) listener->placed(pods, node);
}

void Draft::undo_to(std::size_t size) {
  while (moves_.size() > size) {
    const Move move = moves_.back();
    moves_.pop_back();
    cluster_.unplace(*move.pods, move.node);
    for (const auto& listener : std::views::reverse(listeners_))
      listener->removed(*move.pods, move.node);
  }
}

}  // namespace muster::scheduler
