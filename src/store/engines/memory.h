#pragma once

#include <memory>

#include "store/engine.h"

namespace muster::store {

// A store that forgets everything with the process: for tests, simulations and what-if.
std::unique_ptr<Engine> make_memory_engine();

}  // namespace muster::store
