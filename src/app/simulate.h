#pragma once

#include <string>

#include "base/result.h"

namespace muster::app {

// Plays the scenario text at `path` (docs/scenarios.md) and prints every step, its outcome and a
// map of the cluster. The error says what is wrong with the text, or how it failed.
Result<void> simulate(const std::string& path);

}  // namespace muster::app
