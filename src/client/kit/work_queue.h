#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"

namespace muster::client {

// What a controller has to look at, by key: now, or at a later time. A key that is due stands in it
// once, however often it was added; keys come out in their order.
class WorkQueue {
 public:
  void add(std::string key) { due_.insert(std::move(key)); }
  template <typename Keys>
  void add_all(const Keys& keys) {
    due_.insert(keys.begin(), keys.end());
  }
  void add_at(Time when, std::string key) { later_.emplace(when, std::move(key)); }

  // Again after a pause that doubles with every failure. The pause is kept with what the key stands
  // for, and set back by its owner when something succeeds.
  void retry(std::string key, Duration& backoff, Time now) {
    backoff = std::clamp(backoff * 2, kBackoffMin, kBackoffMax);
    add_at(now + backoff, std::move(key));
  }

  // Hands up to `limit` keys that are due to `decide`; returns how many. Keys may be added
  // meanwhile.
  template <typename Decide>
  std::size_t run(Time now, std::size_t limit, Decide&& decide) {
    while (!later_.empty() && later_.begin()->first <= now)
      due_.insert(std::move(later_.extract(later_.begin()).mapped()));
    std::size_t done = 0;
    for (; done < limit && !due_.empty(); ++done) decide(due_.extract(due_.begin()).value());
    return done;
  }

  // When run() has something to do; in the past if it has right now.
  std::optional<Time> next_deadline() const {
    if (!due_.empty()) return Time{};
    if (later_.empty()) return std::nullopt;
    return later_.begin()->first;
  }

 private:
  static constexpr Duration kBackoffMin = std::chrono::milliseconds{50};
  static constexpr Duration kBackoffMax = std::chrono::seconds{30};

  std::set<std::string> due_;
  std::multimap<Time, std::string> later_;
};

}  // namespace muster::client
