#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/scenario/line.h"
#include "sim/scenario/stage.h"

namespace muster::sim {

// What must be true at some moment of a scenario.
struct Expectation {
  int line = 0;
  std::string text;
  // What is true instead; nullopt if it is as expected.
  std::function<std::optional<std::string>(const Stage&)> unmet;
};

// "llm/prefill  placed in rack a2", "sweep  waits: zone a fits 7 of 8", "node n1  uses cpu=4".
Result<Expectation> read_expectation(const Line& line);

}  // namespace muster::sim
