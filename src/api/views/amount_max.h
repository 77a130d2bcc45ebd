#pragma once

#include <cstdint>

namespace muster::api {

// Larger amounts count as this. No machine has as much (4 PiB, 4 * 10^12 cores), and the sum over a
// thousand pods that ask for it does not overflow: otherwise two pods put on a node by hand could
// make it look empty.
inline constexpr std::int64_t kAmountMax = std::int64_t{1} << 52;

}  // namespace muster::api
