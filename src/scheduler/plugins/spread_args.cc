#include "scheduler/plugins/spread_args.h"

namespace muster::scheduler {

std::vector<PodTopologySpreadArgs::Constraint> PodTopologySpreadArgs::defaults() const {
  if (!is_system_defaulting) return default_constraints;
  return {{.topology_key = "kubernetes.io/hostname", .max_skew = 3},
          {.topology_key = "topology.kubernetes.io/zone", .max_skew = 5}};
}

std::vector<std::string> PodTopologySpreadArgs::default_keys() const {
  std::vector<std::string> keys;
  for (const Constraint& constraint : defaults()) keys.push_back(constraint.topology_key);
  return keys;
}

}  // namespace muster::scheduler
