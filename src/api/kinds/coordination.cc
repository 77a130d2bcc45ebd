#include <utility>

#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

std::vector<Kind> coordination_kinds() {
  Kind lease =
      plain_kind({.group = "coordination.k8s.io", .version = "v1", .package = "coordination/v1"},
                 "Lease", "leases");
  lease.unconditional_update = false;
  lease.create_on_update = true;
  return {std::move(lease)};
}

}  // namespace muster::api::kinds
