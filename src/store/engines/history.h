#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "store/engine.h"

namespace muster::store {

// What compaction must know of a change, so that it need not read the disk.
struct Past {
  Revision revision;
  Revision supersedes;
  std::uint32_t frees = 0;  // bytes of the records that go when the change is forgotten
  bool deleted = false;
};

// Every change after the compacted revision, oldest first, with the sum of what they keep on disk.
class History {
 public:
  void push(const Past& past);
  // Forgets the oldest ones.
  void drop(std::size_t count);

  bool empty() const { return changes_.empty(); }
  std::size_t size() const { return changes_.size(); }
  const Past& operator[](std::size_t place) const { return changes_[place]; }
  Revision newest() const { return changes_.back().revision; }
  std::size_t bytes() const { return bytes_; }
  // As Engine::revision_that_leaves, in one look at the changes that stay. `start` if that is all
  // of them.
  Revision revision_that_leaves(const HistorySize& most, Revision start) const;

 private:
  std::deque<Past> changes_;
  std::size_t bytes_ = 0;
};

}  // namespace muster::store
