#pragma once

#include "sim/scenario/action.h"
#include "sim/scenario/line.h"

// The verbs that change nodes.
namespace muster::sim {

Result<Action> read_add_nodes(const Line& line);   // cluster, add
Result<Action> read_cordon(const Line& line);      // cordon, uncordon
Result<Action> read_readiness(const Line& line);   // unready, ready
Result<Action> read_label(const Line& line);       // label, unlabel
Result<Action> read_taint_verb(const Line& line);  // taint, untaint
Result<Action> read_remove(const Line& line);      // remove

}  // namespace muster::sim
