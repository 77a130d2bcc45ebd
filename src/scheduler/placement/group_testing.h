#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/entity.h"

namespace muster::scheduler {

// Small trees and clusters for tests.

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

// Nodes <rack>-0, <rack>-1, … of `slots` CPUs each; the first of them hold pods that use `used`.
inline void add_sample_rack(Cluster& cluster, const std::string& rack, int count, int slots,
                            int used = 0, const std::string& zone = "z") {
  for (int i = 0; i < count; ++i) {
    const std::string node = rack + "-" + std::to_string(i);
    cluster.set_node(NodeSample{
        .name = node, .cpu = std::to_string(slots), .labels = {{"rack", rack}, {"zone", zone}}}
                         .make());
    const int here = std::min(used, slots);
    used -= here;
    if (here == 0) continue;
    cluster.set_pod(
        PodSample{.name = "used-" + node, .cpu = std::to_string(here), .node_name = node}.make());
  }
}

}  // namespace muster::scheduler
