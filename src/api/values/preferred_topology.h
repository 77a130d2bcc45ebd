#pragma once

#include <string_view>

namespace muster::api {

// On a PodGroup or CompositePodGroup (ours): a node label whose value all its pods should share,
// and how long it waits for that before it takes as few domains as possible
// (docs/guide/topology.md).
inline constexpr std::string_view kPreferredTopologyAnnotation =
    "scheduling.muster.dev/preferred-topology";
inline constexpr std::string_view kPreferredTopologyWaitAnnotation =
    "scheduling.muster.dev/preferred-topology-wait";

}  // namespace muster::api
