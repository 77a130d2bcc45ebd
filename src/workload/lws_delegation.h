#pragma once

#include "api/json.h"
#include "base/result.h"
#include "workload/delegation.h"
#include "workload/leader_worker_set.h"

namespace muster::workload {

// The templates of a set whose owner has made the Workload, from the one that the owner names:
//
//   of pods                              one group per replica, or one of the set
//   above one of pods                    the set ▶ replicas
//   above two of pods                    the set ▶ leader, worker (in this order); or each replica
//   above one composite above two        the set ▶ replicas ▶ leader, worker
//
// Where two are possible, spec.scheduling may say which is meant, by the levels it sets; its
// settings must match the templates, since only one of them can decide. Invalid says what does not
// fit.
Result<LwsTemplates> delegated_lws_templates(const api::Json& set, const Delegation& delegation,
                                             const api::Json& workload);

}  // namespace muster::workload
