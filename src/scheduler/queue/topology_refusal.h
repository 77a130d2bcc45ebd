#pragma once

#include <string_view>

namespace muster::scheduler {

// The plugin name, upstream's, under which topology refuses. No plugin of ours has it: the queue
// itself knows what could help against it.
inline constexpr std::string_view kTopologyPlugin = "TopologyPlacementGenerator";

}  // namespace muster::scheduler
