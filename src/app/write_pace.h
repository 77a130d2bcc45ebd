#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"

namespace muster::app {

// Limits writes while the disk cannot keep up: all users together write kBytes in a second, and
// each user at most as much as is still free of that. So one heavy writer gets half, and a modest
// writer finds room beside several heavy ones.
class WritePace {
 public:
  static constexpr std::size_t kBytes = std::size_t{16} << 20U;
  static constexpr Duration kPeriod = std::chrono::seconds{1};

  bool admits(const std::string& user, Time now) {
    begin_period(now);
    const auto found = by_user_.find(user);
    return written_ + (found == by_user_.end() ? 0 : found->second) < kBytes;
  }
  void charge(const std::string& user, std::size_t bytes, Time now) {
    begin_period(now);
    if (bytes == 0) return;
    by_user_[user] += bytes;
    written_ += bytes;
  }

 private:
  void begin_period(Time now) {
    // Also if the clock went back.
    if (begun_ && now >= *begun_ && now - *begun_ < kPeriod) return;
    begun_ = now;
    by_user_.clear();
    written_ = 0;
  }

  std::optional<Time> begun_;
  std::map<std::string, std::size_t> by_user_;  // in this period
  std::size_t written_ = 0;                     // by all of them
};

}  // namespace muster::app
