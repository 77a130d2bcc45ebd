#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::scheduler {

// Every user who may change a group can make the scheduler look at all groups and pods below it, as
// often as they like. Such looks are made in steps, and each namespace has so many steps per time
// and no more: what it asks for beyond that waits, and delays nobody else.
class NamespaceTurns {
 public:
  struct Options {
    Duration each = std::chrono::microseconds{10};  // a step every so often
    std::size_t burst = 1'000;                      // and so many at once after a rest
  };

  explicit NamespaceTurns(Options options) : options_(options) {}

  // How many steps the namespace may make now.
  std::size_t left(std::string_view name_space, Time now) const;
  void charge(std::string_view name_space, std::size_t steps, Time now);
  // When it may make that many, at most `burst`.
  Time when(std::string_view name_space, std::size_t steps) const;
  // Namespaces that are remembered: those that have not earned all their steps back, and some more.
  std::size_t size() const { return paid_at_.size(); }

 private:
  const Options options_;
  // When the steps that a namespace has made are earned back. No entry: long ago.
  std::map<std::string, Time, std::less<>> paid_at_;
  std::size_t pruned_to_ = 0;
};

}  // namespace muster::scheduler
