#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/scheduler_config.h"
#include "sim/scenario/expectation.h"
#include "sim/scenario/verbs.h"

namespace muster::sim {

// A scenario, parsed (docs/scenarios.md): a cluster, what happens, and what must then be
// true.
struct Scenario {
  struct Step {
    int line = 0;
    std::string text;
    Action act;
    std::vector<Expectation> expectations;
  };
  std::string file;
  std::string known_fault;                    // "expected to fail: …": why, until somebody fixes it
  scheduler::SchedulerConfig scheduler = {};  // "configuration": the defaults without one
  std::vector<Step> steps;
};

// The error names file, line and the words that would be right.
Result<Scenario> parse_scenario(std::string_view file, std::string_view text);

struct ScenarioOptions {
  std::uint64_t seed = 1;
  // Gets every step, its outcome and a map of the cluster; may be empty.
  std::function<void(std::string_view)> say = {};
  // The scheduler's profiles instead of those in the text; for plugins that no text can
  // name.
  std::optional<scheduler::Profiles> profiles = {};
};

// Plays the scenario on the product itself under virtual time, twice: the second history must equal
// the first. Returns what is wrong, readable: where, what was expected, what is true instead, and
// the map; empty if nothing is. A scenario that is expected to fail fails by passing.
std::string run_scenario(const Scenario& scenario, const ScenarioOptions& options);

}  // namespace muster::sim
