#pragma once

#include "api/gates/gates.h"
#include "client/remote/served_kinds.h"

// Gates on a cluster that is not ours: what its server does not have is switched off, what it has
// stays as the user says.
namespace muster::app {

// For those who read groups: without PodGroups there is nothing to read, without CompositePodGroups
// every group is a root.
api::Gates gates_of_scheduler(const client::ServedKinds& served, api::Gates gates);
// For those who make groups, and a Workload before them: they need both kinds.
api::Gates gates_of_controllers(const client::ServedKinds& served, api::Gates gates);

}  // namespace muster::app
