#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::scheduler {

// What a search may spend, counted, never timed: steps (a pod put on a node, a domain tried) and
// work spent on looking (domains bounded, nodes compared). It ends when either is used up.
struct Budget {
  std::uint64_t steps = 0;
  std::uint64_t work = 0;
  std::uint64_t steps_max = 0;
  std::uint64_t work_max = 0;

  bool is_spent() const { return steps > steps_max || work > work_max; }
  // Counts a step; false if it was one too many.
  bool step() {
    ++steps;
    return !is_spent();
  }
  // Counts looking at so many small things in a row: tasks, moves, children. A few cost nothing:
  // they come with a step or with a bound, which are counted.
  void walk(std::size_t count) { work += count / 8; }
  // From now on, this much more.
  void allow(std::uint64_t more_steps, std::uint64_t more_work) {
    steps_max = steps + more_steps;
    work_max = work + more_work;
  }
};

}  // namespace muster::scheduler
