#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::scheduler {

// Upstream's PodTopologySpreadArgs. Default constraints are for pods that have none of their own
// and belong to a service or a set; they select what that selects.
struct PodTopologySpreadArgs {
  struct Constraint {
    std::string topology_key;
    std::int32_t max_skew = 1;
    bool is_hard = false;  // DoNotSchedule
  };
  // defaultingType List: these; System: kubernetes.io/hostname with skew 3 and
  // topology.kubernetes.io/zone with skew 5, both ScheduleAnyway.
  bool is_system_defaulting = true;
  std::vector<Constraint> default_constraints = {};

  std::vector<Constraint> defaults() const;
  std::vector<std::string> default_keys() const;
};

}  // namespace muster::scheduler
