#pragma once

#include <functional>

#include "sim/scenario/stage.h"

namespace muster::sim {

// What a line of a scenario does once it has been read.
using Action = std::function<Result<void>(Stage&)>;

}  // namespace muster::sim
