#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// A number for each value of a node label: how many pods of some kind run on nodes that have it, or
// what they are worth. Nodes without the label share nothing, and have none.
class PodCounts {
 public:
  explicit PodCounts(const LabelColumn& column)
      : column_(&column), counts_(column.names.size(), 0) {}

  const LabelColumn& column() const { return *column_; }
  LabelValueId value_of(NodeId node) const { return column_->values[node]; }
  bool has_value(NodeId node) const { return value_of(node) != LabelValueId::Absent; }
  std::int64_t at(LabelValueId value) const { return counts_[index_of(value)]; }
  std::int64_t around(NodeId node) const { return at(value_of(node)); }
  // The node must have the label.
  void add(NodeId node, std::int64_t amount) { counts_[index_of(value_of(node))] += amount; }
  std::size_t values() const { return counts_.size(); }
  std::size_t bytes() const { return counts_.capacity() * sizeof(std::int64_t); }

 private:
  const LabelColumn* column_;
  std::vector<std::int64_t> counts_;  // by value; that of "absent" stays 0
};

// False if no node has the label.
inline bool has_values(const LabelColumn& column) { return column.names.size() > 1; }

// Whether no two nodes share a value, as with the host name: then each node has its own
// count.
inline bool is_one_node_each(const Cluster& cluster, const LabelColumn& column) {
  std::vector<char> seen(column.names.size(), 0);
  bool is_unique = true;
  cluster.nodes().for_each([&](NodeId node) {
    const LabelValueId value = column.values[node];
    if (value == LabelValueId::Absent) return;
    is_unique &= seen[index_of(value)] == 0;
    seen[index_of(value)] = 1;
  });
  return is_unique;
}

}  // namespace muster::scheduler
