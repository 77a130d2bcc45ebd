#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "scheduler/cache/column.h"
#include "scheduler/cache/node_set.h"

// Arithmetic over whole columns, on whatever vector unit the machine has (Highway, dispatched at
// run time). Every function gives the same integers as the one-row function beside it, on any
// machine: where doubles are used, they are used as upstream uses them, or only where every
// intermediate is exact.
namespace muster::scheduler {

// One resource against a request: `wanted` must fit into allocatable - requested.
struct Demand {
  const std::int64_t* allocatable;
  const std::int64_t* requested;
  std::int64_t wanted;  // > 0
};

// Strikes out every node where some demand does not fit or no pod slot is free.
void narrow_by_fit(std::span<const Demand> demands, const std::int64_t* slots,
                   const std::int64_t* pods, NodeSet& candidates);
// How many more such pods fit, by amounts and slots; never below 0.
void cap_by_fit(std::span<const Demand> demands, const std::int64_t* slots,
                const std::int64_t* pods, CapColumn& at_most);
std::int32_t cap_by_fit_at(std::span<const Demand> demands, const std::int64_t* slots,
                           const std::int64_t* pods, std::size_t row);

// A node's total score and its rank by name in one number, so that the greater one is the better
// node: (total + 1) << 32 | ~rank. Written to keys[row] for every member; the other keys must be 0
// before.
void pack_keys(const NodeSet& nodes, const Column<std::int32_t>& totals,
               const Column<std::uint32_t>& ranks, std::span<std::uint64_t> keys);
// The greatest of them; 0 if there is none.
std::uint64_t best_key(const NodeSet& nodes, const Column<std::int32_t>& totals,
                       const Column<std::uint32_t>& ranks);

// One resource in an allocation score: the share that would be taken is (used + wanted) /
// allocatable.
struct Share {
  const std::int64_t* allocatable;
  const std::int64_t* used;
  std::int64_t wanted;
  std::int64_t weight;
};
// Beyond this, amounts times 100 are not exact in a double and the rows are done one by one.
inline constexpr std::int64_t kVectorAmountMax = std::int64_t{1} << 46;

// Adds `weight` times LeastAllocated (0..100) to every row of `totals`.
void add_least_allocated(std::span<const Share> shares, std::int64_t weight, bool amounts_are_small,
                         Column<std::int32_t>& totals);
std::int64_t least_allocated_at(std::span<const Share> shares, std::size_t row);

// The same for MostAllocated: the share that would be taken, at most all of it.
void add_most_allocated(std::span<const Share> shares, std::int64_t weight, bool amounts_are_small,
                        Column<std::int32_t>& totals);
std::int64_t most_allocated_at(std::span<const Share> shares, std::size_t row);

// The same for RequestedToCapacityRatio: `scores` has the score, 0..100, of each percentage of
// utilization. Resources that score 0 do not count; the mean is rounded, halves up.
using ShapeTable = std::array<std::int32_t, 101>;
void add_requested_to_capacity(std::span<const Share> shares, const ShapeTable& scores,
                               std::int64_t weight, bool amounts_are_small,
                               Column<std::int32_t>& totals);
std::int64_t requested_to_capacity_at(std::span<const Share> shares, const ShapeTable& scores,
                                      std::size_t row);

// Adds `weight` times BalancedAllocation (0..100) to every row of `totals`. Only the first
// kBalancedMax shares count.
inline constexpr std::size_t kBalancedMax = 16;
void add_balanced(std::span<const Share> shares, std::int64_t weight, Column<std::int32_t>& totals);
std::int64_t balanced_at(std::span<const Share> shares, std::size_t row);

}  // namespace muster::scheduler
