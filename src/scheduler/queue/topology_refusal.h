#pragma once

#include <string_view>

namespace muster::scheduler {

// The name under which topology refuses, upstream's. No plugin of ours carries it: the queue itself
// knows what could help against it.
inline constexpr std::string_view kTopologyPlugin = "TopologyPlacementGenerator";

}  // namespace muster::scheduler
