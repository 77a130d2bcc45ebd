#pragma once

#include <chrono>

#include "base/time.h"

namespace muster::app {

// The system time when the process started plus the time since: it never jumps, so leases and
// deadlines can be measured by it.
class SteadyClock final : public Clock {
 public:
  Time now() const override {
    return start_ +
           std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - steady_);
  }

 private:
  const std::chrono::steady_clock::time_point steady_ = std::chrono::steady_clock::now();
  const Time start_ = SystemClock{}.now();
};

}  // namespace muster::app
