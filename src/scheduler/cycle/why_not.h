#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {

// How often each reason was given, and by which plugins.
struct Histogram {
  std::map<std::string, std::int64_t, std::less<>> reasons;
  std::vector<std::string> plugins;  // who refused, in the order they are asked; each once
  bool hopeless = true;              // no eviction could turn any refusal around

  // "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable."
  std::string text(std::size_t nodes) const;
};

// Asks every node of the list (all living nodes without one) why it refuses the class.
Histogram why_not(const Standing& standing, const Cluster& cluster);
Histogram why_not(const Standing& standing, std::span<const NodeId> nodes);

}  // namespace muster::scheduler
