#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/division.h"
#include "scheduler/framework/contest.h"
#include "scheduler/framework/pass.h"

namespace muster::scheduler {

// How many more pods of one class fit: on each node, and summed by cell for the divisions in use.
// Where a filter limits the nodes that share a label value together (FilterPass::domain_column),
// a sum over cells counts each value with no more than its limit.
//
// Stays accurate as long as its owner sets every row whose cap changed.
class CapTable {
 public:
  explicit CapTable(const Cluster& cluster) : cluster_(cluster) {}

  bool is_built() const { return built_; }
  // Starts over. A node whose key in `keys` is 0 takes no pod at the moment. `none`: no node takes
  // any.
  void build(std::span<const NamedFilter> filters, const Contest& keys, bool none);
  void set(NodeId node, std::int32_t cap);

  const CapColumn& column() const { return caps_; }
  Exactness exactness() const { return exactness_; }
  bool has_domain_caps() const { return !limited_.empty(); }

  // The caps summed by cell; kept from then on, and true whenever the caps are. Blind to domain
  // caps. The reference is good until kDivisionsMax other divisions were asked for.
  const std::vector<std::int64_t>& sums(const std::shared_ptr<const Division>& division) {
    return sums_of(division).sums;
  }
  // The sum over some cells, domain caps heeded: an upper bound of how many more fit there.
  std::int64_t sum_over(const std::shared_ptr<const Division>& division,
                        std::span<const CellId> cells);
  std::size_t bytes() const;

 private:
  // The caps of a cell's nodes, split by the value of a label: a part is the nodes of one cell that
  // share a value. Most often a cell has one part, since racks do not cross zones.
  struct Parts {
    const FilterPass* filter;
    const LabelColumn* column;
    std::vector<std::uint32_t> first;    // by cell: its first part; one more at the end
    std::vector<LabelValueId> value;     // by part
    std::vector<std::int64_t> sum;       // by part
    std::vector<std::uint32_t> part_of;  // by row
  };
  struct DivisionSums {
    std::shared_ptr<const Division> division;
    std::vector<std::int64_t> sums = {};
    std::vector<Parts> parts = {};  // one for each filter with domain caps
  };
  static constexpr std::size_t kDivisionsMax = 4;  // in use at once; the oldest goes first

  DivisionSums& sums_of(const std::shared_ptr<const Division>& division);
  NodeSet nodes_beyond_moves(std::span<const NamedFilter> filters) const;
  void sum_cells(DivisionSums& entry) const;
  Parts make_parts(const FilterPass& filter, const Division& division) const;
  std::int64_t limited_sum(const Parts& parts, std::span<const CellId> cells);

  const Cluster& cluster_;
  bool built_ = false;
  CapColumn caps_;
  Exactness exactness_ = Exactness::PerNode;
  std::vector<const FilterPass*> limited_;  // filters with domain caps
  std::vector<std::unique_ptr<DivisionSums>> by_division_;
  std::vector<std::int64_t> by_value_;  // scratch, all 0 between calls
};

}  // namespace muster::scheduler
