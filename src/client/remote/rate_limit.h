#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"

namespace muster::client {

// A token bucket: `burst` requests at once, then `per_second`. Without a rate nothing is limited.
class RateLimit {
 public:
  struct Options {
    double per_second = 0;
    int burst = 1;
  };

  explicit RateLimit(Options options) : options_(options), tokens_(options.burst) {}

  // Takes a token, or says when there will be one.
  std::optional<Time> take_token(Time now) {
    if (options_.per_second <= 0) return std::nullopt;
    if (last_) {
      const std::chrono::duration<double> passed = std::max(now - *last_, Duration{0});
      tokens_ = std::min<double>(options_.burst, tokens_ + passed.count() * options_.per_second);
    }
    last_ = now;
    if (tokens_ >= 1) {
      tokens_ -= 1;
      return std::nullopt;
    }
    const std::chrono::duration<double> missing((1 - tokens_) / options_.per_second);
    return now + std::chrono::ceil<Duration>(missing);
  }

 private:
  const Options options_;
  double tokens_;
  std::optional<Time> last_;
};

}  // namespace muster::client
