#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Names and limits of the workload API that more than one room uses.
namespace muster::api {

inline constexpr std::string_view kSchedulingGroup = "scheduling.k8s.io";

// Keep a group while it is used: a PodGroup by its pods, a composite by its child groups (ours).
inline constexpr std::string_view kPodGroupFinalizer = "scheduling.k8s.io/podgroup-protection";
inline constexpr std::string_view kCompositePodGroupFinalizer =
    "scheduling.muster.dev/compositepodgroup-protection";

inline constexpr std::string_view kPreemptLowerPriority = "PreemptLowerPriority";
inline constexpr std::string_view kPreemptNever = "Never";

// On a PodGroup (ours): how many pods it will have in the end. A group whose pods come one by one
// then starts where there is room for all of them (L6); without it only the pods that exist are
// known.
inline constexpr std::string_view kExpectedPodsAnnotation = "scheduling.muster.dev/expected-pods";

// The condition that says whether a group was scheduled, once and for all.
inline constexpr std::string_view kPodGroupScheduled = "PodGroupInitiallyScheduled";
inline constexpr std::string_view kCompositePodGroupScheduled =
    "CompositePodGroupInitiallyScheduled";

inline constexpr std::size_t kTemplatesMax = 8;
inline constexpr std::size_t kTemplateDepthMax = 4;
inline constexpr std::size_t kGroupClaimsMax = 4;
inline constexpr std::size_t kTopologyConstraintsMax = 1;
inline constexpr std::int64_t kGroupPriorityMax = 1'000'000'000;

}  // namespace muster::api
