#pragma once

#include <string>

#include "api/json.h"
#include "workload/job.h"

// JobSets (jobset.x-k8s.io) as workloads. `set` is a JobSet's document with metadata and spec.
namespace muster::workload {

// One Job per domain of a node label, said of the set or of one of its Job templates.
inline constexpr std::string_view kExclusiveTopologyAnnotation =
    "alpha.jobset.sigs.k8s.io/exclusive-topology";
// That label; empty if they do not ask for it.
std::string exclusive_topology(const api::Json& set, const api::Json& job_template);

}  // namespace muster::workload
