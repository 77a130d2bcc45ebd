#pragma once

#include <algorithm>
#include <chrono>

#include "base/entropy.h"
#include "base/time.h"

namespace muster::client {

// The pauses between rounds that failed: 0.8 s, doubled each time up to 30 s, each stretched by a
// random part of itself so that many clients do not come back together; from the start again after
// two minutes without a failure. The figures are client-go's.
class Backoff {
 public:
  explicit Backoff(Entropy& entropy) : entropy_(entropy) {}

  Duration failed(Time now) {
    if (now - last_failure_ > kForget) delay_ = kFirst;
    last_failure_ = now;
    const Duration base = delay_;
    delay_ = std::min(2 * delay_, kMost);
    return base + Duration(entropy_.below(static_cast<std::uint64_t>(base.count())));
  }

 private:
  static constexpr Duration kFirst = std::chrono::milliseconds{800};
  static constexpr Duration kMost = std::chrono::seconds{30};
  static constexpr Duration kForget = std::chrono::minutes{2};

  Entropy& entropy_;
  Duration delay_ = kFirst;
  Time last_failure_{};
};

}  // namespace muster::client
