#include "scheduler/framework/cap_table.h"

#include <algorithm>
#include <map>

namespace muster::scheduler {

void CapTable::build(std::span<const NamedFilter> filters, const Contest& keys, bool none) {
  built_ = true;
  exactness_ = Exactness::PerNode;
  limited_.clear();
  caps_.resize(cluster_.rows());
  caps_.fill(kNoCap);
  for (const NamedFilter& filter : filters) {
    if (filter.pass->cap(caps_) == Exactness::UpperBound) exactness_ = Exactness::UpperBound;
    if (filter.pass->domain_column() == nullptr) continue;
    limited_.push_back(filter.pass.get());
    exactness_ = Exactness::UpperBound;
  }
  if (exactness_ == Exactness::PerNode) {
    for (std::size_t row = 0; row < caps_.padded(); ++row)
      if (row >= cluster_.rows() || keys.key(row) == 0) caps_.data()[row] = 0;
  } else {
    const NodeSet open = none ? NodeSet(cluster_.rows()) : nodes_beyond_moves(filters);
    for (std::size_t row = 0; row < caps_.padded(); ++row)
      if (row >= cluster_.rows() || !open.contains(static_cast<NodeId>(row))) caps_.data()[row] = 0;
  }
  // A division of other nodes than there are now serves nobody any more.
  std::erase_if(by_division_, [this](const auto& entry) {
    return entry->division->cell_of.padded() != caps_.padded();
  });
  for (const auto& entry : by_division_) sum_cells(*entry);
}

// The nodes that no filter refuses for good. One that looks beyond its node may refuse now and
// accept after other moves, so only its cap counts: otherwise a sum would not be an upper bound.
NodeSet CapTable::nodes_beyond_moves(std::span<const NamedFilter> filters) const {
  NodeSet open = cluster_.nodes();
  for (const NamedFilter& filter : filters)
    if (!filter.pass->follows_moves()) filter.pass->narrow(open);
  return open;
}

void CapTable::set(NodeId node, std::int32_t cap) {
  const std::int32_t change = cap - caps_[node];
  if (change == 0) return;
  caps_[node] = cap;
  for (const auto& entry : by_division_) {
    entry->sums[index_of(entry->division->cell_of[node])] += change;
    for (Parts& parts : entry->parts) parts.sum[parts.part_of[index_of(node)]] += change;
  }
}

CapTable::DivisionSums& CapTable::sums_of(const std::shared_ptr<const Division>& division) {
  for (const auto& entry : by_division_)
    if (entry->division == division) return *entry;
  if (by_division_.size() == kDivisionsMax) by_division_.erase(by_division_.begin());
  DivisionSums& made =
      *by_division_.emplace_back(std::make_unique<DivisionSums>(DivisionSums{division}));
  sum_cells(made);
  return made;
}

void CapTable::sum_cells(DivisionSums& entry) const {
  const Division& division = *entry.division;
  // Rows without a node are in cell 0 and have a cap of 0.
  entry.sums.assign(std::max<std::size_t>(division.cell_count, 1), 0);
  const CellId* cells = division.cell_of.data();
  const std::int32_t* caps = caps_.data();
  // The table may have grown since by rows that wait for their node.
  const std::size_t rows = std::min(cluster_.rows(), division.cell_of.padded());
  for (std::size_t row = 0; row < rows; ++row) entry.sums[index_of(cells[row])] += caps[row];
  entry.parts.clear();
  for (const FilterPass* filter : limited_) entry.parts.push_back(make_parts(*filter, division));
}

CapTable::Parts CapTable::make_parts(const FilterPass& filter, const Division& division) const {
  Parts parts{.filter = &filter,
              .column = filter.domain_column(),
              .first = {},
              .value = {},
              .sum = {},
              .part_of = {}};
  const std::size_t rows = std::min(cluster_.rows(), division.cell_of.padded());
  std::map<std::pair<CellId, LabelValueId>, std::uint32_t> numbers;
  const auto key_of = [&](std::size_t row) {
    const auto node = static_cast<NodeId>(row);
    return std::pair(division.cell_of[node], parts.column->values[node]);
  };
  for (std::size_t row = 0; row < rows; ++row) numbers.emplace(key_of(row), 0);
  parts.first.assign(std::max<std::size_t>(division.cell_count, 1) + 1, 0);
  for (auto& [key, number] : numbers) {  // by cell, then by value
    number = static_cast<std::uint32_t>(parts.value.size());
    parts.value.push_back(key.second);
    ++parts.first[index_of(key.first) + 1];
  }
  for (std::size_t cell = 1; cell < parts.first.size(); ++cell)
    parts.first[cell] += parts.first[cell - 1];
  parts.sum.assign(parts.value.size(), 0);
  parts.part_of.resize(division.cell_of.padded(), 0);
  for (std::size_t row = 0; row < rows; ++row) {
    parts.part_of[row] = numbers.at(key_of(row));
    parts.sum[parts.part_of[row]] += caps_.data()[row];
  }
  return parts;
}

std::int64_t CapTable::sum_over(const std::shared_ptr<const Division>& division,
                                std::span<const CellId> cells) {
  DivisionSums& entry = sums_of(division);
  std::int64_t sum = 0;
  for (const CellId cell : cells) sum += entry.sums[index_of(cell)];
  for (const Parts& parts : entry.parts) sum = std::min(sum, limited_sum(parts, cells));
  return sum;
}

// On the nodes of these cells that share a value, no more fit than their caps together, and no more
// than the value's limit; the nodes of different values are different nodes, so the lesser of the
// two adds up over the values to a bound for all the cells. A value that reaches beyond the cells
// only makes its limit too generous, never too tight.
std::int64_t CapTable::limited_sum(const Parts& parts, std::span<const CellId> cells) {
  by_value_.resize(std::max(by_value_.size(), parts.column->names.size()), 0);
  std::int64_t sum = 0;
  const auto for_each_part = [&](auto&& visit) {
    for (const CellId cell : cells)
      for (std::uint32_t p = parts.first[index_of(cell)]; p < parts.first[index_of(cell) + 1]; ++p)
        visit(parts.value[p], parts.sum[p]);
  };
  for_each_part([&](LabelValueId value, std::int64_t caps) { by_value_[index_of(value)] += caps; });
  for_each_part([&](LabelValueId value, std::int64_t) {
    const std::int64_t here = std::exchange(by_value_[index_of(value)], 0);
    // Nodes without the label share no limit.
    sum += value == LabelValueId::Absent
               ? here
               : std::min<std::int64_t>(here, here == 0 ? 0 : parts.filter->domain_cap(value));
  });
  return sum;
}

std::size_t CapTable::bytes() const {
  std::size_t sum = caps_.bytes() + by_value_.capacity() * sizeof(std::int64_t);
  for (const auto& entry : by_division_) {
    sum += entry->sums.capacity() * sizeof(std::int64_t);
    for (const Parts& parts : entry->parts)
      sum += (parts.first.capacity() + parts.part_of.capacity()) * sizeof(std::uint32_t) +
             parts.value.capacity() * (sizeof(LabelValueId) + sizeof(std::int64_t));
  }
  return sum;
}

}  // namespace muster::scheduler
