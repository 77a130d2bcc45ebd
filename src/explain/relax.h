#pragma once

#include <optional>
#include <vector>

#include "explain/explanation.h"
#include "explain/trial.h"

// What would make the target fit. Every relaxation added has been planned, and worked.
namespace muster::explain {

void lower_minimums(Trial& trial, std::vector<Relaxation>& out);
void widen_topology(Trial& trial, std::vector<Relaxation>& out);
// For a tree that must go into one of the sets of nodes that plugins name.
void widen_placements(Trial& trial, std::vector<Relaxation>& out);
void add_nodes(Trial& trial, std::vector<Relaxation>& out);
void open_nodes(Trial& trial, std::vector<Relaxation>& out);  // cordons and taints
void let_others_finish(Trial& trial, std::vector<Relaxation>& out);

// For a tree that waits only because these groups prefer a topology; none if others come first.
std::optional<Relaxation> without_wait(Trial& trial,
                                       const std::vector<scheduler::GroupKey>& insisting);

// All of them, the smallest change for the user first.
std::vector<Relaxation> relaxations(Trial& trial);

}  // namespace muster::explain
