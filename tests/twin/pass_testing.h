#pragma once

#include <string>
#include <string_view>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/default_profile.h"
#include "twin/test_passes.h"

namespace muster::scheduler::twin {

inline constexpr std::string_view kSizes[] = {"100m", "101m", "500m",
                                              "501m"};  // blue, red, blue, red

inline PodSample pod_sample(const std::string& name, std::size_t size) {
  return {.name = name, .cpu = std::string(kSizes[size]), .memory = "1Mi"};
}

// A profile with some of the passes on top of the product's own, by bits.
inline Profile profile_with(std::uint64_t bits) {
  Profile profile = default_profile();
  if (bits & 1U) profile.add<RedFilter<ZoneExclusionPass>>(1);
  if (bits & 2U) profile.add<RedFilter<SpreadPass>>(1);
  if (bits & 4U) profile.add<RedFilter<ZoneLimitPass>>(1);
  if (bits & 8U) profile.add<RedScore<CrowdPass>>(2);
  if (bits & 16U) profile.add<RedScore<RackCrowdPass>>(1);
  if (bits & 32U) profile.add<RedFilter<NeighbourPass>>(1);
  if (bits & 64U) profile.add<RedFilter<CountingPass>>(1);
  if (bits & 128U) profile.add<NumberScore>(1, 5);
  return profile;
}

}  // namespace muster::scheduler::twin
