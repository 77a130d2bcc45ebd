#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/entity.h"

namespace muster::scheduler {

// Small trees for tests.

// <prefix>0, <prefix>1, …
inline std::vector<PodSample> sample_pods(const std::string& prefix, int count,
                                          const std::string& cpu) {
  std::vector<PodSample> samples;
  for (int i = 0; i < count; ++i)
    samples.push_back({.name = prefix + std::to_string(i), .cpu = cpu});
  return samples;
}

// A minimum of 0 makes a Basic group.
inline Group sample_leaf(const std::string& name, std::int32_t minimum, std::vector<PodSample> pods,
                         std::string key = "") {
  Group group;
  group.key = {GroupKind::PodGroup, "default", name};
  group.gang = minimum > 0;
  group.minimum = std::max(1, minimum);
  group.topology_key = std::move(key);
  for (PodSample& pod : pods) {
    pod.group = name;
    group.pods.push_back({pod.make(), 0, {}, pod.nominated_node});
  }
  return group;
}

inline Group sample_composite(const std::string& name, std::int32_t minimum,
                              std::vector<Group> children, std::string key = "") {
  Group group;
  group.key = {GroupKind::CompositePodGroup, "default", name};
  group.gang = true;
  group.minimum = minimum;
  group.topology_key = std::move(key);
  group.children = std::move(children);
  return group;
}

}  // namespace muster::scheduler
