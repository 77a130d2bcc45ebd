#pragma once

#include <cstdint>

namespace muster::api {

// An amount above this counts as this. No machine has so much (4 PiB, 4 * 10^12 cores), and the sum
// over a thousand pods that ask for it is still a number: else two pods put on a node by hand could
// make it look empty.
inline constexpr std::int64_t kAmountMax = std::int64_t{1} << 52;

}  // namespace muster::api
