#pragma once

#include "api/gates/gates.h"
#include "api/json.h"
#include "base/result.h"
#include "workload/compiled_manifest.h"

namespace muster::workload {

// Adds what the controller would make for a LeaderWorkerSet before its pods: Workload, groups,
// links of its pods. `set` has its defaults. `uid` stands in for the server's.
Result<void> compile_lws(const api::Json& set, const api::Gates& gates, std::string_view uid,
                         CompiledManifest& out);

}  // namespace muster::workload
