#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// A set of nodes inside which a group must fit, as a list of cells.
struct Domain {
  std::string name;  // the label value; empty for the whole cluster
  std::vector<CellId> cells;
};

// The nodes by the label keys that some group is constrained by. A cell is a distinct tuple of
// values over those keys, so domains of any key, nested in any way, are lists of cells, and equal
// rack names in two blocks stay apart. Cells are numbered, and their nodes listed, by node name.
class Topology {
 public:
  // The topology over these keys; kept beside the cluster and made anew when labels or nodes have
  // changed.
  static const Topology& of(Cluster& cluster, const std::vector<std::string>& keys);

  Topology(Cluster& cluster, const std::vector<std::string>& keys);

  std::size_t cell_count() const { return cells_.size(); }
  CellId cell_of(NodeId node) const { return cell_of_[node]; }
  std::span<const NodeId> nodes(CellId cell) const { return cells_[index_of(cell)].nodes; }
  LabelValueId value_of(NodeId node, std::size_t key) const {
    return cells_[index_of(cell_of(node))].values[key];
  }
  const std::string& name_of(std::size_t key, LabelValueId value) const {
    return columns_[key]->names[index_of(value)];
  }

  Domain everywhere() const;
  // The domains of a key inside another, by name. Nodes without the label are in none.
  std::vector<Domain> split(const Domain& within, std::size_t key) const;
  std::size_t node_count(const Domain& domain) const;

 private:
  struct Cell {
    std::vector<LabelValueId> values;  // one per key
    std::vector<NodeId> nodes;
  };

  std::uint64_t shape_epoch_ = 0;
  std::vector<const LabelColumn*> columns_;
  std::vector<Cell> cells_;
  Column<CellId> cell_of_;
};

}  // namespace muster::scheduler
