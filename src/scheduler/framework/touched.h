#pragma once

#include <boost/unordered/unordered_flat_set.hpp>

#include <span>
#include <utility>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/row_set.h"

namespace muster::scheduler {

// The rows whose answers a move may have changed, as the passes name them: single rows, all rows
// that share a label value, or every row. What is derived from the passes refreshes these rows and
// nothing else, so a pass that names too few makes it stale, and one that names too many makes it
// slow.
class Touched {
 public:
  explicit Touched(Cluster& cluster) : cluster_(cluster) {}

  // --- for passes ---
  void row(NodeId node) {
    if (!every_row_) rows_.insert(node);
  }
  // Every node with this value of a watched label. Absent names no node: nodes without the label
  // share nothing.
  void value(const LabelColumn& column, LabelValueId value) {
    if (every_row_ || value == LabelValueId::Absent) return;
    if (!values_.emplace(&column, value).second) return;
    for (const NodeId node : cluster_.nodes_with(column, value)) rows_.insert(node);
  }
  void every_row() { every_row_ = true; }

  // --- for the collector ---
  void clear() {
    every_row_ = false;
    rows_.clear();
    rows_.resize(cluster_.rows());
    if (!values_.empty()) values_.clear();
  }
  bool is_every_row() const { return every_row_; }
  bool empty() const { return !every_row_ && rows_.empty(); }
  // Each once. Not meaningful if every row is touched.
  std::span<const NodeId> rows() const { return rows_.rows(); }
  std::size_t bytes() const { return rows_.bytes(); }

 private:
  Cluster& cluster_;
  bool every_row_ = false;
  RowSet rows_;
  // The values named so far: a thousand pods that went to one zone cost its rows once.
  boost::unordered_flat_set<std::pair<const LabelColumn*, LabelValueId>> values_;
};

}  // namespace muster::scheduler
