#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/cache/ids.h"

namespace muster::scheduler {

// The rows that changed lately, in order, each change under a sequence number. What is derived from
// the table remembers how far it has read and catches up by the rows since then; a reader that fell
// behind starts over.
class RowLog {
 public:
  // Usage: what is free changed. Node: its labels, taints, cordon, or the node came or went.
  enum class What : std::uint8_t { Usage, Node };
  struct Entry {
    NodeId node;
    What what;
  };

  std::uint64_t end() const { return end_; }
  // Whether every change from `sequence` on is still here.
  bool reaches(std::uint64_t sequence) const {
    return sequence >= floor_ && end_ - sequence <= ring_.size();
  }
  const Entry& at(std::uint64_t sequence) const { return ring_[sequence & mask_]; }
  // Whether the row of the entry changed again later: a reader may leave it to that change.
  bool is_outdated(const Entry& entry, std::uint64_t sequence) const {
    return latest_[index_of(entry.node)] != sequence;
  }
  bool is_outdated(std::uint64_t sequence) const { return is_outdated(at(sequence), sequence); }

  // Whether a node came, went or changed since then, and not only what is free on some.
  bool has_nodes_since(std::uint64_t sequence) const { return sequence < nodes_end_; }

  void add(NodeId node, What what) {
    ring_[end_ & mask_] = {node, what};
    latest_[index_of(node)] = end_++;
    if (what == What::Node) nodes_end_ = end_;
  }
  // Makes room for about as many changes as there are rows.
  void grow(std::size_t rows) {
    latest_.resize(rows, 0);
    std::size_t size = ring_.size();
    while (size < rows) size *= 2;
    if (size == ring_.size()) return;
    std::vector<Entry> bigger(size);
    const std::uint64_t kept = end_ < ring_.size() ? end_ : ring_.size();
    for (std::uint64_t s = end_ - kept; s < end_; ++s) bigger[s & (size - 1)] = at(s);
    // What was overwritten before is not in the bigger ring either: readers that far behind start
    // over.
    if (end_ > kept) floor_ = end_ - kept;
    ring_ = std::move(bigger);
    mask_ = size - 1;
  }

 private:
  std::vector<Entry> ring_ = std::vector<Entry>(1024);
  std::uint64_t mask_ = 1023;          // its size is a power of two
  std::vector<std::uint64_t> latest_;  // by row: its last change
  std::uint64_t end_ = 0;
  std::uint64_t nodes_end_ = 0;  // behind the last change of a node
  std::uint64_t floor_ = 0;      // changes before this one are gone
};

}  // namespace muster::scheduler
