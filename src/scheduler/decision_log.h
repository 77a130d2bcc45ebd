#pragma once

#include <string_view>

#include "scheduler/bind/tree_binder.h"
#include "scheduler/framework/plan.h"

// The log of `muster up -v`: a line for each decision, at level Debug. Nothing is formatted unless
// somebody reads it.
namespace muster::scheduler {

// Logs who found no place in an attempt: a lone pod, or the root of a tree; for an admitted tree,
// each pod left over.
void log_refusals(const Plan& plan);
void log_bound(const Assignment& assignment);
void log_bound(const TreeBinding& tree);
void log_eviction(const api::Object& pod, std::string_view why);

}  // namespace muster::scheduler
