#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace muster::scheduler {

// The states that a search has failed in, as many as fit in a number of bytes. When these are used
// up, no more are remembered: the search looks twice at what it could have cut, and its answers are
// the same. It compares whole states, never hashes: it is part of a proof.
class FailedStates {
 public:
  using State = std::vector<std::uint32_t>;

  explicit FailedStates(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool contains(const State& state) const { return states_.contains(state); }
  void insert(State state) {
    const std::size_t more = kBytesEach + state.size() * sizeof(State::value_type);
    if (more > bytes_max_ - bytes_) return;
    state.shrink_to_fit();
    if (states_.insert(std::move(state)).second) bytes_ += more;
  }
  void clear() {
    states_.clear();
    bytes_ = 0;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  // What the set and the allocator add.
  static constexpr std::size_t kBytesEach = 96;

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::set<State> states_;
};

}  // namespace muster::scheduler
