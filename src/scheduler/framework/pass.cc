#include "scheduler/framework/pass.h"

#include <algorithm>

namespace muster::scheduler {

Exactness FilterPass::cap(CapColumn&) const {
  return follows_moves() ? Exactness::UpperBound : Exactness::PerNode;
}

// What a filter refuses that looks beyond its node, it may accept after other moves.
std::int32_t FilterPass::cap_at(NodeId node) const {
  return admits(node) || follows_moves() ? kNoCap : 0;
}

void default_normalize(Better better, std::span<std::int64_t> scores) {
  std::int64_t most = 0;
  for (const std::int64_t score : scores) most = std::max(most, score);
  for (std::int64_t& score : scores) {
    if (most != 0) score = score * 100 / most;
    if (better == Better::Lower) score = most == 0 ? 100 : 100 - score;
  }
}

}  // namespace muster::scheduler
