#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/cache/ids.h"

namespace muster::scheduler {

// The pods that came to a node or left one lately, by class, in order. The row log says which rows
// changed; this one says by whom, for passes that count pods of other classes on other nodes. A
// reader that fell behind recounts everything.
class PodLog {
 public:
  struct Entry {
    ClassId pods{};
    NodeId node{};
    bool came = true;  // else it left
  };

  std::uint64_t end() const { return end_; }
  // Whether every change from `sequence` on is still here.
  bool reaches(std::uint64_t sequence) const { return sequence >= floor_; }
  const Entry& at(std::uint64_t sequence) const { return ring_[sequence & (ring_.size() - 1)]; }

  // True if an old entry must go before the next one is added: the caller keeps the classes of all
  // entries alive, and releases that of `oldest()` now.
  bool is_full() const { return end_ - floor_ >= ring_.size(); }
  const Entry& oldest() const { return at(floor_); }
  void add(const Entry& entry) {
    if (is_full()) ++floor_;
    ring_[end_++ & (ring_.size() - 1)] = entry;
  }
  // Forgets all entries, and returns their classes.
  std::vector<ClassId> clear() {
    std::vector<ClassId> classes;
    for (; floor_ < end_; ++floor_) classes.push_back(at(floor_).pods);
    return classes;
  }

 private:
  static constexpr std::size_t kSize = 4096;  // a power of two
  std::vector<Entry> ring_ = std::vector<Entry>(kSize);
  std::uint64_t end_ = 0;
  std::uint64_t floor_ = 0;  // changes before this one are gone
};

}  // namespace muster::scheduler
