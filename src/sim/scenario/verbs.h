#pragma once

#include <string_view>

#include "sim/scenario/action.h"
#include "sim/scenario/line.h"

namespace muster::sim {

// What a line that is not indented does: "submit gang train …", "cordon n1", "wait 30s".
Result<Action> read_action(const Line& line);
// Whether the verb may have expectations below it: cycle, wait, expect.
bool takes_expectations(std::string_view verb);

}  // namespace muster::sim
