#pragma once

#include <string_view>

namespace muster::api {

// The condition of a pod without a node that says what it waits for. Its status is True, its reason
// is the answer; a pod that has a node, or waits for something else, has no such condition
// (docs/guide/autoscaling.md).
inline constexpr std::string_view kWaitsForCondition = "scheduling.muster.dev/WaitsFor";

}  // namespace muster::api
