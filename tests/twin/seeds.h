#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace muster::scheduler::twin {

// Each property has seeds of its own, so that a run sees as many different cases as it can.
// MUSTER_TEST_LONG makes twenty times as many of them; MUSTER_TWIN_SEED=<seed> runs a single one.
struct Seeds {
  std::uint64_t first;
  std::uint64_t count;
};

template <typename Visit>
void for_seeds(Seeds seeds, Visit&& visit) {
  if (std::getenv("MUSTER_TEST_LONG") != nullptr) seeds.count *= 20;
  if (const char* only = std::getenv("MUSTER_TWIN_SEED"))
    seeds = {.first = std::strtoull(only, nullptr, 10), .count = 1};
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("MUSTER_TWIN_SEED=" + std::to_string(seed));
    visit(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace muster::scheduler::twin
