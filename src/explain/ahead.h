#pragma once

#include <string>
#include <vector>

#include "explain/objects.h"
#include "explain/trial.h"

namespace muster::explain {

// Who comes before a target that would fit, and takes the room it needs: higher priority first,
// then those that wait longer. Empty if it still fits after them. The queue's own times are not
// known from outside, so age stands for them.
std::vector<std::string> in_the_way(Trial& trial);

}  // namespace muster::explain
