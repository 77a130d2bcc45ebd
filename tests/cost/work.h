#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

// Work, counted: what a request costs on any machine, at any load.
namespace muster::cost {

// Whether this build counts steps.
#ifdef MUSTER_COUNTS_WORK
inline constexpr bool kCountsSteps = true;
#else
inline constexpr bool kCountsSteps = false;
#endif

struct Work {
  std::uint64_t steps = 0;            // basic blocks entered, in the rooms that are counted
  std::uint64_t bytes_allocated = 0;  // all of them, whether freed since or not
  std::uint64_t bytes_moved = 0;      // by memcpy and memmove

  // One number: sixteen bytes are about as dear as a step.
  std::uint64_t total() const { return steps + (bytes_allocated + bytes_moved) / 16; }
};

// What this thread has done so far.
Work& work_of_this_thread();

// What `act` does.
template <typename Act>
Work measure(Act&& act) {
  const Work before = work_of_this_thread();
  std::forward<Act>(act)();
  const Work& after = work_of_this_thread();
  return {.steps = after.steps - before.steps,
          .bytes_allocated = after.bytes_allocated - before.bytes_allocated,
          .bytes_moved = after.bytes_moved - before.bytes_moved};
}

}  // namespace muster::cost
