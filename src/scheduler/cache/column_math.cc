#include "scheduler/cache/column_math.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scheduler/cache/column_math.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace muster::scheduler::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Amounts64 = hn::ScalableTag<std::int64_t>;
using Doubles = hn::ScalableTag<double>;

// Rows come in blocks of 64, so every lane count up to 64 divides them.
void narrow_by_fit_lanes(std::span<const Demand> demands, const std::int64_t* slots,
                         const std::int64_t* pods, std::uint64_t* words, std::size_t word_count) {
  const Amounts64 d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t w = 0; w < word_count; ++w) {
    if (words[w] == 0) continue;
    std::uint64_t fits = 0;
    for (std::size_t at = 0; at < 64; at += lanes) {
      const std::size_t row = w * 64 + at;
      auto ok = hn::Lt(hn::Load(d, pods + row), hn::Load(d, slots + row));
      for (const Demand& demand : demands) {
        const auto available =
            hn::Sub(hn::Load(d, demand.allocatable + row), hn::Load(d, demand.requested + row));
        ok = hn::AndNot(hn::Lt(available, hn::Set(d, demand.wanted)), ok);
      }
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, ok, bits);
      std::uint64_t mask = bits[0];
      for (std::size_t byte = 1; byte * 8 < lanes; ++byte)
        mask |= std::uint64_t{bits[byte]} << (byte * 8);
      fits |= mask << at;
    }
    words[w] &= fits;
  }
}

void cap_by_fit_lanes(std::span<const Demand> demands, const std::int64_t* slots,
                      const std::int64_t* pods, std::int32_t* caps, std::size_t rows) {
  const Amounts64 d;
  const Doubles f;
  const hn::Rebind<std::int32_t, Doubles> narrow;
  const auto zero = hn::Zero(f);
  const auto most = hn::Set(f, static_cast<double>(kNoCap));
  for (std::size_t row = 0; row < rows; row += hn::Lanes(d)) {
    auto cap = hn::ConvertTo(f, hn::Sub(hn::Load(d, slots + row), hn::Load(d, pods + row)));
    for (const Demand& demand : demands) {
      const auto available =
          hn::Sub(hn::Load(d, demand.allocatable + row), hn::Load(d, demand.requested + row));
      // Exact: both are integers below 2^53, so the quotient cannot round up to the next integer.
      const auto times = hn::Floor(
          hn::Div(hn::ConvertTo(f, available), hn::Set(f, static_cast<double>(demand.wanted))));
      cap = hn::Min(cap, times);
    }
    cap = hn::Min(hn::Max(cap, zero), most);
    hn::Store(hn::DemoteTo(narrow, cap), narrow, caps + row);
  }
}

void add_least_allocated_lanes(std::span<const Share> shares, std::int64_t weight,
                               std::int32_t* totals, std::size_t rows) {
  const Amounts64 d;
  const Doubles f;
  const hn::Rebind<std::int32_t, Doubles> narrow;
  const auto zero = hn::Zero(f);
  const auto hundred = hn::Set(f, 100.0);
  const auto times = hn::Set(f, static_cast<double>(weight));
  const bool halves = shares.size() == 2 && shares[0].weight == 1 && shares[1].weight == 1;
  for (std::size_t row = 0; row < rows; row += hn::Lanes(d)) {
    auto sum = zero;
    auto weights = zero;
    bool all_count = true;
    for (const Share& share : shares) {
      const auto w = hn::Set(f, static_cast<double>(share.weight));
      const auto capacity = hn::ConvertTo(f, hn::Load(d, share.allocatable + row));
      const auto requested =
          hn::ConvertTo(f, hn::Add(hn::Load(d, share.used + row), hn::Set(d, share.wanted)));
      const auto counts = hn::Gt(capacity, zero);
      all_count = all_count && hn::AllTrue(f, counts);
      const auto free_times_100 = hn::Mul(hn::Max(hn::Sub(capacity, requested), zero), hundred);
      const auto score =
          hn::Floor(hn::Div(free_times_100, hn::IfThenElse(counts, capacity, hundred)));
      sum = hn::Add(sum, hn::IfThenElseZero(counts, hn::Mul(score, w)));
      weights = hn::Add(weights, hn::IfThenElseZero(counts, w));
    }
    // Divisions are what this loop costs; the common one, by 2, is an exact multiplication.
    const auto mean = halves && all_count
                          ? hn::Floor(hn::Mul(sum, hn::Set(f, 0.5)))
                          : hn::Floor(hn::Div(sum, hn::Max(weights, hn::Set(f, 1.0))));
    const auto before = hn::Load(narrow, totals + row);
    hn::Store(hn::Add(before, hn::DemoteTo(narrow, hn::Mul(mean, times))), narrow, totals + row);
  }
}

void add_most_allocated_lanes(std::span<const Share> shares, std::int64_t weight,
                              std::int32_t* totals, std::size_t rows) {
  const Amounts64 d;
  const Doubles f;
  const hn::Rebind<std::int32_t, Doubles> narrow;
  const auto zero = hn::Zero(f);
  const auto hundred = hn::Set(f, 100.0);
  const auto times = hn::Set(f, static_cast<double>(weight));
  for (std::size_t row = 0; row < rows; row += hn::Lanes(d)) {
    auto sum = zero;
    auto weights = zero;
    for (const Share& share : shares) {
      const auto w = hn::Set(f, static_cast<double>(share.weight));
      const auto capacity = hn::ConvertTo(f, hn::Load(d, share.allocatable + row));
      const auto requested =
          hn::ConvertTo(f, hn::Add(hn::Load(d, share.used + row), hn::Set(d, share.wanted)));
      const auto counts = hn::Gt(capacity, zero);
      const auto taken = hn::Min(requested, capacity);
      const auto score =
          hn::Floor(hn::Div(hn::Mul(taken, hundred), hn::IfThenElse(counts, capacity, hundred)));
      sum = hn::Add(sum, hn::IfThenElseZero(counts, hn::Mul(score, w)));
      weights = hn::Add(weights, hn::IfThenElseZero(counts, w));
    }
    const auto mean = hn::Floor(hn::Div(sum, hn::Max(weights, hn::Set(f, 1.0))));
    const auto before = hn::Load(narrow, totals + row);
    hn::Store(hn::Add(before, hn::DemoteTo(narrow, hn::Mul(mean, times))), narrow, totals + row);
  }
}

void add_requested_to_capacity_lanes(std::span<const Share> shares, const std::int32_t* scores,
                                     std::int64_t weight, std::int32_t* totals, std::size_t rows) {
  const Amounts64 d;
  const Doubles f;
  const hn::Rebind<std::int32_t, Doubles> narrow;
  const auto zero = hn::Zero(f);
  const auto hundred = hn::Set(f, 100.0);
  const auto half = hn::Set(f, 0.5);
  const auto times = hn::Set(f, static_cast<double>(weight));
  for (std::size_t row = 0; row < rows; row += hn::Lanes(d)) {
    auto sum = zero;
    auto weights = zero;
    for (const Share& share : shares) {
      const auto w = hn::Set(f, static_cast<double>(share.weight));
      const auto capacity = hn::ConvertTo(f, hn::Load(d, share.allocatable + row));
      const auto requested =
          hn::ConvertTo(f, hn::Add(hn::Load(d, share.used + row), hn::Set(d, share.wanted)));
      const auto has_any = hn::Gt(capacity, zero);
      const auto taken = hn::Max(hn::Min(requested, capacity), zero);
      const auto utilization =
          hn::Floor(hn::Div(hn::Mul(taken, hundred), hn::IfThenElse(has_any, capacity, hundred)));
      // Rows without the resource look up entry 0 at worst, and do not count.
      const auto at = hn::DemoteTo(narrow, hn::IfThenElseZero(has_any, utilization));
      const auto score = hn::PromoteTo(f, hn::GatherIndex(narrow, scores, at));
      const auto counts = hn::And(has_any, hn::Gt(score, zero));
      sum = hn::Add(sum, hn::IfThenElseZero(counts, hn::Mul(score, w)));
      weights = hn::Add(weights, hn::IfThenElseZero(counts, w));
    }
    // A quotient of such small numbers is a half exactly or far from one.
    const auto mean = hn::Floor(hn::Add(hn::Div(sum, hn::Max(weights, hn::Set(f, 1.0))), half));
    const auto before = hn::Load(narrow, totals + row);
    hn::Store(hn::Add(before, hn::DemoteTo(narrow, hn::Mul(mean, times))), narrow, totals + row);
  }
}

// The balance of two shares, as upstream computes it: trunc((1 - |f0 - f1| / 2) * 100).
template <class V, class M>
HWY_INLINE V balance_lanes(const Doubles f, V used0, V used1, V capacity0, V capacity1, M both) {
  const auto one = hn::Set(f, 1.0);
  const auto f0 = hn::Min(hn::Div(used0, capacity0), one);
  const auto f1 = hn::Min(hn::Div(used1, capacity1), one);
  const auto deviation =
      hn::IfThenElseZero(both, hn::Abs(hn::Mul(hn::Sub(f0, f1), hn::Set(f, 0.5))));
  return hn::Trunc(hn::Mul(hn::Sub(one, deviation), hn::Set(f, 100.0)));
}

void add_balanced_pair_lanes(const Share& a, const Share& b, std::int64_t weight,
                             std::int32_t* totals, std::size_t rows) {
  const Amounts64 d;
  const Doubles f;
  const hn::Rebind<std::int32_t, Doubles> narrow;
  const auto zero = hn::Zero(f);
  const auto one = hn::Set(f, 1.0);
  const auto half = hn::Set(f, 0.5);
  const auto fifty = hn::Set(f, 50.0);
  const auto times = hn::Set(f, static_cast<double>(weight));
  for (std::size_t row = 0; row < rows; row += hn::Lanes(d)) {
    const auto capacity0 = hn::ConvertTo(f, hn::Load(d, a.allocatable + row));
    const auto capacity1 = hn::ConvertTo(f, hn::Load(d, b.allocatable + row));
    const auto both = hn::And(hn::Gt(capacity0, zero), hn::Gt(capacity1, zero));
    const auto divisor0 = hn::Max(capacity0, one);
    const auto divisor1 = hn::Max(capacity1, one);
    const auto used0 = hn::Load(d, a.used + row);
    const auto used1 = hn::Load(d, b.used + row);
    const auto without = balance_lanes(f, hn::ConvertTo(f, used0), hn::ConvertTo(f, used1),
                                       divisor0, divisor1, both);
    const auto with = balance_lanes(f, hn::ConvertTo(f, hn::Add(used0, hn::Set(d, a.wanted))),
                                    hn::ConvertTo(f, hn::Add(used1, hn::Set(d, b.wanted))),
                                    divisor0, divisor1, both);
    const auto gain = hn::Trunc(hn::Mul(hn::Add(fifty, hn::Sub(with, without)), half));
    const auto score = hn::Mul(hn::Add(fifty, gain), times);
    const auto before = hn::Load(narrow, totals + row);
    hn::Store(hn::Add(before, hn::DemoteTo(narrow, score)), narrow, totals + row);
  }
}

// The keys of the rows from `row` on; 0 for those whose bit is not set.
HWY_INLINE hn::Vec<Amounts64> key_lanes(std::uint64_t bits, const std::int32_t* totals,
                                        const std::uint32_t* ranks, std::size_t row) {
  const Amounts64 d;
  const hn::Rebind<std::int32_t, Amounts64> narrow;
  const hn::RebindToUnsigned<decltype(narrow)> narrow_unsigned;
  const auto total = hn::PromoteTo(d, hn::Load(narrow, totals + row));
  // As signed numbers, ~rank is negative; its low half is what the key wants.
  const auto rank =
      hn::PromoteTo(d, hn::BitCast(narrow, hn::Not(hn::Load(narrow_unsigned, ranks + row))));
  const auto key = hn::Or(hn::ShiftLeft<32>(hn::Add(total, hn::Set(d, 1))),
                          hn::And(rank, hn::Set(d, std::int64_t{0xffffffff})));
  std::uint8_t bytes[8];
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
  return hn::IfThenElseZero(hn::LoadMaskBits(d, bytes), key);
}

// Whole words only; `words` says for which rows there is room.
void pack_keys_lanes(const std::uint64_t* words, std::size_t word_count, const std::int32_t* totals,
                     const std::uint32_t* ranks, std::uint64_t* keys) {
  const Amounts64 d;
  const hn::RebindToUnsigned<Amounts64> u;
  for (std::size_t w = 0; w < word_count; ++w) {
    if (words[w] == 0) continue;
    for (std::size_t at = 0; at < 64; at += hn::Lanes(d))
      hn::StoreU(hn::BitCast(u, key_lanes(words[w] >> at, totals, ranks, w * 64 + at)), u,
                 keys + w * 64 + at);
  }
}

std::uint64_t best_key_lanes(const std::uint64_t* words, std::size_t word_count,
                             const std::int32_t* totals, const std::uint32_t* ranks) {
  const Amounts64 d;
  auto best = hn::Zero(d);
  for (std::size_t w = 0; w < word_count; ++w) {
    if (words[w] == 0) continue;
    for (std::size_t at = 0; at < 64; at += hn::Lanes(d))
      best = hn::Max(best, key_lanes(words[w] >> at, totals, ranks, w * 64 + at));
  }
  return static_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(d, best)));
}

}  // namespace muster::scheduler::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::scheduler {
namespace {

HWY_EXPORT(narrow_by_fit_lanes);
HWY_EXPORT(cap_by_fit_lanes);
HWY_EXPORT(add_least_allocated_lanes);
HWY_EXPORT(add_most_allocated_lanes);
HWY_EXPORT(add_requested_to_capacity_lanes);
HWY_EXPORT(add_balanced_pair_lanes);
HWY_EXPORT(pack_keys_lanes);
HWY_EXPORT(best_key_lanes);

// trunc((1 - deviation) * 100) over the shares that count; `wanted` is added for the balance with
// the pod.
double balance_at(std::span<const Share> shares, std::size_t row, bool with_pod) {
  double fractions[kBalancedMax];
  std::size_t count = 0;
  double total = 0;
  for (const Share& share : shares) {
    if (share.allocatable[row] <= 0) continue;
    const std::int64_t used = share.used[row] + (with_pod ? share.wanted : 0);
    double fraction = static_cast<double>(used) / static_cast<double>(share.allocatable[row]);
    if (fraction > 1) fraction = 1;
    if (count == kBalancedMax) break;
    fractions[count++] = fraction;
    total += fraction;
  }
  double deviation = 0;
  if (count == 2) {
    deviation = std::abs((fractions[0] - fractions[1]) / 2);
  } else if (count > 2) {
    const double mean = total / static_cast<double>(count);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += (fractions[i] - mean) * (fractions[i] - mean);
    deviation = std::sqrt(sum / static_cast<double>(count));
  }
  return std::trunc((1 - deviation) * 100);
}

}  // namespace

void narrow_by_fit(std::span<const Demand> demands, const std::int64_t* slots,
                   const std::int64_t* pods, NodeSet& candidates) {
  HWY_DYNAMIC_DISPATCH(narrow_by_fit_lanes)(demands, slots, pods, candidates.words(),
                                            candidates.word_count());
}

void cap_by_fit(std::span<const Demand> demands, const std::int64_t* slots,
                const std::int64_t* pods, CapColumn& at_most) {
  HWY_DYNAMIC_DISPATCH(cap_by_fit_lanes)(demands, slots, pods, at_most.data(), at_most.padded());
}

std::int32_t cap_by_fit_at(std::span<const Demand> demands, const std::int64_t* slots,
                           const std::int64_t* pods, std::size_t row) {
  std::int64_t cap = slots[row] - pods[row];
  for (const Demand& demand : demands) {
    const std::int64_t available = demand.allocatable[row] - demand.requested[row];
    if (available < demand.wanted) return 0;
    cap = std::min(cap, available / demand.wanted);
  }
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(cap, 0, kNoCap));
}

void pack_keys(const NodeSet& nodes, const Column<std::int32_t>& totals,
               const Column<std::uint32_t>& ranks, std::span<std::uint64_t> keys) {
  const std::size_t whole = keys.size() / 64;
  HWY_DYNAMIC_DISPATCH(pack_keys_lanes)
  (nodes.words(), whole, totals.data(), ranks.data(), keys.data());
  for (std::size_t row = whole * 64; row < keys.size(); ++row) {
    const auto node = static_cast<NodeId>(row);
    if (nodes.contains(node))
      keys[row] =
          (static_cast<std::uint64_t>(totals[node] + 1) << 32) | (0xffffffffU - ranks[node]);
  }
}

std::uint64_t best_key(const NodeSet& nodes, const Column<std::int32_t>& totals,
                       const Column<std::uint32_t>& ranks) {
  return HWY_DYNAMIC_DISPATCH(best_key_lanes)(nodes.words(), nodes.word_count(), totals.data(),
                                              ranks.data());
}

namespace {

// Of what a node has, no more than all of it; amounts are whatever somebody wrote into an object,
// so that their sum may be more than fits.
std::int64_t taken_of(const Share& share, std::int64_t capacity, std::size_t row) {
  const std::int64_t free = capacity - share.used[row];
  return share.wanted <= free ? share.used[row] + share.wanted : capacity;
}

std::int64_t percent_of(std::int64_t part, std::int64_t whole) {
  __extension__ using Wide = __int128;
  if (part <= std::numeric_limits<std::int64_t>::max() / 100) return part * 100 / whole;
  return static_cast<std::int64_t>(Wide{part} * 100 / whole);
}

}  // namespace

void add_least_allocated(std::span<const Share> shares, std::int64_t weight, bool amounts_are_small,
                         Column<std::int32_t>& totals) {
  if (amounts_are_small) {
    HWY_DYNAMIC_DISPATCH(add_least_allocated_lanes)(shares, weight, totals.data(), totals.padded());
    return;
  }
  for (std::size_t row = 0; row < totals.padded(); ++row)
    totals.data()[row] += static_cast<std::int32_t>(weight * least_allocated_at(shares, row));
}

std::int64_t least_allocated_at(std::span<const Share> shares, std::size_t row) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  for (const Share& share : shares) {
    const std::int64_t capacity = share.allocatable[row];
    if (capacity <= 0) continue;
    sum += percent_of(capacity - taken_of(share, capacity, row), capacity) * share.weight;
    weights += share.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

void add_most_allocated(std::span<const Share> shares, std::int64_t weight, bool amounts_are_small,
                        Column<std::int32_t>& totals) {
  if (amounts_are_small) {
    HWY_DYNAMIC_DISPATCH(add_most_allocated_lanes)(shares, weight, totals.data(), totals.padded());
    return;
  }
  for (std::size_t row = 0; row < totals.padded(); ++row)
    totals.data()[row] += static_cast<std::int32_t>(weight * most_allocated_at(shares, row));
}

std::int64_t most_allocated_at(std::span<const Share> shares, std::size_t row) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  for (const Share& share : shares) {
    const std::int64_t capacity = share.allocatable[row];
    if (capacity <= 0) continue;
    sum += percent_of(taken_of(share, capacity, row), capacity) * share.weight;
    weights += share.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

void add_requested_to_capacity(std::span<const Share> shares, const ShapeTable& scores,
                               std::int64_t weight, bool amounts_are_small,
                               Column<std::int32_t>& totals) {
  if (amounts_are_small) {
    HWY_DYNAMIC_DISPATCH(add_requested_to_capacity_lanes)
    (shares, scores.data(), weight, totals.data(), totals.padded());
    return;
  }
  for (std::size_t row = 0; row < totals.padded(); ++row)
    totals.data()[row] +=
        static_cast<std::int32_t>(weight * requested_to_capacity_at(shares, scores, row));
}

std::int64_t requested_to_capacity_at(std::span<const Share> shares, const ShapeTable& scores,
                                      std::size_t row) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  for (const Share& share : shares) {
    const std::int64_t capacity = share.allocatable[row];
    if (capacity <= 0) continue;
    const std::int64_t taken = std::max<std::int64_t>(taken_of(share, capacity, row), 0);
    const std::int64_t score = scores[static_cast<std::size_t>(percent_of(taken, capacity))];
    if (score <= 0) continue;
    sum += score * share.weight;
    weights += share.weight;
  }
  return weights == 0 ? 0 : (2 * sum + weights) / (2 * weights);
}

void add_balanced(std::span<const Share> shares, std::int64_t weight,
                  Column<std::int32_t>& totals) {
  if (shares.size() == 2) {
    HWY_DYNAMIC_DISPATCH(add_balanced_pair_lanes)(shares[0], shares[1], weight, totals.data(),
                                                  totals.padded());
    return;
  }
  for (std::size_t row = 0; row < totals.padded(); ++row)
    totals.data()[row] += static_cast<std::int32_t>(weight * balanced_at(shares, row));
}

std::int64_t balanced_at(std::span<const Share> shares, std::size_t row) {
  // CPU and memory, as nearly always: the same arithmetic without the loops.
  if (shares.size() == 2 && shares[0].allocatable[row] > 0 && shares[1].allocatable[row] > 0) {
    const auto capacity0 = static_cast<double>(shares[0].allocatable[row]);
    const auto capacity1 = static_cast<double>(shares[1].allocatable[row]);
    const auto balance = [&](std::int64_t used0, std::int64_t used1) {
      const double f0 = std::min(static_cast<double>(used0) / capacity0, 1.0);
      const double f1 = std::min(static_cast<double>(used1) / capacity1, 1.0);
      return static_cast<std::int64_t>((1 - std::abs((f0 - f1) / 2)) * 100);
    };
    const std::int64_t used0 = shares[0].used[row];
    const std::int64_t used1 = shares[1].used[row];
    const std::int64_t without = balance(used0, used1);
    return 50 + (50 + balance(used0 + shares[0].wanted, used1 + shares[1].wanted) - without) / 2;
  }
  const auto with = static_cast<std::int64_t>(balance_at(shares, row, true));
  const auto without = static_cast<std::int64_t>(balance_at(shares, row, false));
  return 50 + (50 + with - without) / 2;
}

}  // namespace muster::scheduler
#endif  // HWY_ONCE
