#pragma once

#include <string_view>

#include "api/json.h"
#include "api/object.h"

namespace muster::sim {

// Node labels that name the domains of a pretend cluster, widest first.
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kBlockLabel = "topology.muster.dev/block";
inline constexpr std::string_view kRackLabel = "topology.kubernetes.io/rack";
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

// Labels that every kubelet gives its node, where they are missing.
void add_node_labels(api::JsonObject& labels, std::string_view name);
// Whether add_node_labels would add any.
bool lacks_node_labels(const api::Object& node);

}  // namespace muster::sim
