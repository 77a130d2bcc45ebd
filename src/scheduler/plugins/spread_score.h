#pragma once

#include <memory>
#include <span>

#include "scheduler/framework/pass.h"
#include "scheduler/plugins/spread_constraints.h"

namespace muster::scheduler {

// The score of soft spread constraints. `needs_all_keys`: nodes that lack one of the keys get 0,
// and what runs on them does not count.
std::unique_ptr<ScorePass> make_spread_score(std::span<const Spread> constraints,
                                             const PodClass& pods, const Cluster& cluster,
                                             bool needs_all_keys);

}  // namespace muster::scheduler
