#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/division.h"
#include "scheduler/framework/placement_plugin.h"
#include "scheduler/placement/cell_table.h"

namespace muster::scheduler {

// A set of nodes inside which a group must fit, as a list of cells. A view: the topology that made
// it owns the name and the list.
struct Domain {
  std::string_view name;  // the label value; empty for the whole cluster
  std::span<const CellId> cells;
  // With a preferred key: how many domains of that key it adds to those where members run.
  std::uint32_t parts = 1;
};

// A key that is not a node label: its domains are what plugins generate. Holds only its number
// among the keys and whom to ask; the key itself is a text that stands for all of it.
struct GeneratedKey {
  struct Part {
    std::shared_ptr<const PlacementGenerate> plugin;
    std::string placements;  // PlacementGenerate::placements_of
  };
  std::size_t key = 0;
  std::vector<Part> parts;
};

// The nodes by the label keys that some group is constrained by. A cell is a distinct tuple of
// values over those keys, so domains of any key, nested in any way, are lists of cells, and equal
// rack names in two blocks stay apart. Cells are numbered, and their nodes listed, by node name.
class Topology {
 public:
  // The topology over these keys; kept beside the cluster and rebuilt when labels or nodes have
  // changed.
  static Topology& of(Cluster& cluster, const std::vector<std::string>& keys,
                      std::span<const GeneratedKey> generated = {});

  Topology(Cluster& cluster, const std::vector<std::string>& keys,
           std::span<const GeneratedKey> generated = {});

  std::size_t cell_count() const { return division_->cell_count; }
  CellId cell_of(NodeId node) const { return division_->cell_of[node]; }
  // What the cells have and use, as of its last catch_up().
  CellTable& table() { return table_; }
  // Which cell each node is in, to sum by.
  const std::shared_ptr<const Division>& division() const { return division_; }
  std::span<const NodeId> nodes(CellId cell) const {
    const std::size_t at = index_of(cell);
    return {nodes_.data() + first_node_[at], nodes_.data() + first_node_[at + 1]};
  }
  LabelValueId value_of(NodeId node, std::size_t key) const { return value_in(cell_of(node), key); }
  const std::string& name_of(std::size_t key, LabelValueId value) const {
    return columns_[key]->names[index_of(value)];
  }
  // Whether the domains of the key come from plugins and not from a label. They may overlap.
  bool is_generated(std::size_t key) const { return generated_[key] != nullptr; }
  bool has_generated() const { return has_generated_; }
  // The names of the domains of a generated key that a node is in, sorted.
  std::vector<std::string> placements_of(NodeId node, std::size_t key) const;

  Domain everywhere() const { return {{}, all_cells_}; }
  // The domains of a key inside another, by name. Nodes without the label are in none. Found once,
  // then remembered: a hostname key has as many domains as there are nodes.
  std::span<const Domain> split(const Domain& within, std::size_t key) const;
  std::size_t node_count(const Domain& domain) const;

 private:
  struct Split {
    std::vector<CellId> cells;
    std::vector<Domain> domains;
  };

  LabelValueId value_in(CellId cell, std::size_t key) const {
    return values_[index_of(cell) * columns_.size() + key];
  }
  std::shared_ptr<const Division> divide(const Cluster& cluster);
  void list_nodes(const Cluster& cluster);
  Split make_split(const Domain& within, std::size_t key) const;
  Split split_generated(const Domain& within, std::size_t key) const;
  // What plugins generated, and which of its lists each node has, as if that were a label.
  struct Generated {
    PlacementColumn placements;
    LabelColumn lists;
  };
  void generate(Cluster& cluster, const GeneratedKey& key);
  std::vector<const LabelColumn*> watch(Cluster& cluster, const std::vector<std::string>& keys,
                                        std::span<const GeneratedKey> generated);

  std::vector<std::unique_ptr<Generated>> generated_;  // by key; null: a label
  bool has_generated_ = false;
  std::vector<Cluster::LabelHold> labels_;  // what keeps the columns of labels
  std::vector<const LabelColumn*> columns_;
  std::vector<LabelValueId> values_;  // [cell * keys + key]
  std::shared_ptr<const Division> division_;
  std::vector<NodeId> nodes_;              // by cell, then by name
  std::vector<std::uint32_t> first_node_;  // by cell: index into nodes_; one more at the end
  std::vector<CellId> all_cells_;
  CellTable table_;
  // A domain is known by where its list of cells begins.
  mutable std::map<std::pair<const CellId*, std::size_t>, Split> splits_;
};

}  // namespace muster::scheduler
