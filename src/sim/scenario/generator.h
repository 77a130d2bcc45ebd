#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace muster::sim {

// A scenario text generated from a seed: a small crowded cluster, groups of all kinds that come in
// any order, go, grow and shrink, nodes that change. It expects only that the invariants hold and
// that in the end nobody waits for a place that was free all along.
std::string make_scenario(std::uint64_t seed);

// The text without the steps that it does not need to fail: `fails` says whether a text still does.
std::string shrink_scenario(std::string text, const std::function<bool(const std::string&)>& fails);

}  // namespace muster::sim
