#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/plugins/pod_counts.h"

namespace muster::scheduler {

// The domains of one strict spread constraint: how many pods each has, and the least of these
// counts. A histogram of counts makes the least cost nothing: it moves by at most as much as one
// count does, and only if that count was, or becomes, the least.
class SpreadDomains {
 public:
  // `counted`: the nodes whose pods count; their values are the domains.
  SpreadDomains(const Cluster& cluster, const LabelColumn& column, NodeSet counted);

  const PodCounts& counts() const { return counts_; }
  bool is_counted(NodeId node) const { return counted_.contains(node); }
  std::int64_t least() const { return least_; }
  std::size_t domain_count() const { return domain_count_; }
  // Below 0: they leave. The node is counted.
  void add(NodeId node, std::int64_t pods);
  std::size_t bytes() const;

 private:
  PodCounts counts_;
  NodeSet counted_;
  std::size_t domain_count_ = 0;
  std::vector<std::uint32_t> histogram_;  // by number of pods: how many domains have it
  std::int64_t least_ = 0;
};

}  // namespace muster::scheduler
