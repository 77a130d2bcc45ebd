#pragma once

#include <span>
#include <vector>

#include "scheduler/cache/node_set.h"

namespace muster::scheduler {

// A few rows out of many: each once, in the order they came. Clearing costs the rows in it, not the
// rows there are.
class RowSet {
 public:
  void resize(std::size_t rows) { marks_.resize(rows); }
  void insert(NodeId node) {
    if (marks_.contains(node)) return;
    marks_.insert(node);
    rows_.push_back(node);
  }
  std::span<const NodeId> rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  void clear() {
    for (const NodeId node : rows_) marks_.remove(node);
    rows_.clear();
  }
  std::size_t bytes() const { return marks_.bytes() + rows_.capacity() * sizeof(NodeId); }

 private:
  NodeSet marks_;
  std::vector<NodeId> rows_;
};

}  // namespace muster::scheduler
