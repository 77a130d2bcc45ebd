#include "store/engines/history.h"

#include <ranges>

#include "base/check.h"

namespace muster::store {

void History::push(const Past& past) {
  changes_.push_back(past);
  bytes_ += past.frees;
}

void History::drop(std::size_t count) {
  CHECK(count <= changes_.size());
  const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto past = changes_.begin(); past != end; ++past) bytes_ -= past->frees;
  changes_.erase(changes_.begin(), end);
}

Revision History::revision_that_leaves(const HistorySize& most, Revision start) const {
  HistorySize left;
  for (const Past& past : std::views::reverse(changes_)) {
    ++left.changes;
    left.bytes += past.frees;
    if (left.changes > most.changes || left.bytes > most.bytes) return past.revision;
  }
  return start;
}

}  // namespace muster::store
