#pragma once

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <optional>
#include <span>

#include "scheduler/framework/standing.h"
#include "scheduler/preemption/unit_table.h"

namespace muster::scheduler {

// The least that making room for pods of a class takes, node by node, counted without a draft: it
// looks at room alone, so whatever a search finds costs as much or more.
class LeastOnNode {
 public:
  LeastOnNode(const Cluster& cluster, const Standing& standing, const UnitTable& table);

  struct Least {
    std::int32_t top = 0;     // some pod of this priority or a higher one must go,
    std::int64_t at_top = 0;  // if none is higher, so many of this one;
    std::int64_t pods = 0;    // and this many of any priority
  };
  // For `count` pods, as the cluster's columns are now, with the pods of `taken` units already
  // gone. Nullopt: it is not enough if all go. No pods: there is room already.
  std::optional<Least> on(NodeId node, std::int64_t count = 1, std::span<const char> taken = {});

 private:
  // Of one resource, or of pod slots at the end.
  struct Missing {
    std::optional<ResourceId> resource;
    std::int64_t amount;
  };
  struct Lower {
    std::int32_t priority;
    const PodClass* pods;
  };
  static std::int64_t freed(const Lower& lower, const Missing& missing);
  std::int64_t count_to(std::span<const Lower> lower, const Missing& missing);
  void find_missing(NodeId node, std::int64_t count);

  const Cluster& cluster_;
  const UnitTable& table_;
  bool counts_room_ = false;  // some filter does
  boost::container::small_vector<PodClass::Want, 4> wants_;
  // Reused from node to node.
  boost::container::small_vector<Missing, 8> missing_;
  boost::container::small_vector<Lower, 16> lower_;
  boost::container::small_vector<std::int64_t, 16> amounts_;
};

}  // namespace muster::scheduler
