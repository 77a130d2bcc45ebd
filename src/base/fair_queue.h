#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "base/check.h"

namespace muster {

// A queue in which owners take turns: one item of each, in order of arrival, then the next item of
// each. An owner with a thousand items delays others by one. Costs O(log owners) an item, and
// keeps nothing of owners without items.
template <typename Owner, typename T>
class FairQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(const Owner& owner, T item) {
    const auto [at, is_new] = waiting_.try_emplace(owner);
    if (is_new) turns_.push_back(at);
    at->second.push_back(std::move(item));
    ++size_;
  }

  // Puts the item before all others of this owner. The owner's turn comes no sooner.
  void push_front(const Owner& owner, T item) {
    const auto [at, is_new] = waiting_.try_emplace(owner);
    if (is_new) turns_.push_back(at);
    at->second.push_front(std::move(item));
    ++size_;
  }

  // The next item of the owner whose turn it is. There must be one.
  T pop() {
    CHECK_THAT(!empty(), "nothing waits");
    const auto at = turns_.front();
    turns_.pop_front();
    T item = std::move(at->second.front());
    at->second.pop_front();
    --size_;
    if (at->second.empty())
      waiting_.erase(at);
    else
      turns_.push_back(at);
    return item;
  }

 private:
  using Waiting = std::map<Owner, std::deque<T>>;
  Waiting waiting_;
  std::deque<typename Waiting::iterator> turns_;  // all of waiting_, whose turn it is first
  std::size_t size_ = 0;
};

}  // namespace muster
