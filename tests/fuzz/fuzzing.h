#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cost/work.h"

// What all fuzz targets share. A target calls a function of the product with what the fuzzer made
// up and aborts if what comes back breaks a promise; crashes and sanitizer reports are found
// without asking.
namespace muster::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool promise) {
  if (!promise) std::abort();
}

// What a target may do per byte of input, on top of what it does for any input.
struct CostMax {
  std::uint64_t steps_per_byte = 0;
  std::uint64_t bytes_per_byte = 0;  // allocated, and as many moved
  std::uint64_t steps_always = 400'000;
  std::uint64_t bytes_always = 2'000'000;
};

// For the length of one input: aborts at its end if that did more work than the input's size
// explains. So an input of a few kilobytes that takes the square of its length is a finding, though
// it takes no time to speak of yet.
class Costs {
 public:
  Costs(std::size_t size, const CostMax& most)
      : size_(size), most_(most), before_(cost::work_of_this_thread()) {}
  Costs(const Costs&) = delete;
  Costs& operator=(const Costs&) = delete;
  ~Costs() {
    const cost::Work after = cost::work_of_this_thread();
    const std::uint64_t steps = after.steps - before_.steps;
    const std::uint64_t allocated = after.bytes_allocated - before_.bytes_allocated;
    const std::uint64_t moved = after.bytes_moved - before_.bytes_moved;
    // Tables that are made once are made while the seeds are read.
    static int rounds = 0;
    if (++rounds <= kRoundsToWarmUp) return;
    const std::uint64_t bytes_max = most_.bytes_always + most_.bytes_per_byte * size_;
    if (steps <= most_.steps_always + most_.steps_per_byte * size_ && allocated <= bytes_max &&
        moved <= bytes_max)
      return;
    std::fprintf(stderr,
                 "%zu bytes of input cost %llu steps, %llu bytes of memory and %llu moved\n", size_,
                 static_cast<unsigned long long>(steps), static_cast<unsigned long long>(allocated),
                 static_cast<unsigned long long>(moved));
    std::abort();
  }

 private:
  static constexpr int kRoundsToWarmUp = 50;
  const std::size_t size_;
  const CostMax most_;
  const cost::Work before_;
};

// Cuts the input at the first zero byte: two texts from one.
inline std::string_view cut(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\0'), rest.size());
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return first;
}

}  // namespace muster::fuzz
