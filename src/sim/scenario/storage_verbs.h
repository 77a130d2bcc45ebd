#pragma once

#include <functional>

#include "sim/scenario/action.h"
#include "sim/scenario/line.h"
#include "sim/scenario/subject_checks.h"

// Storage in scenarios, below the line `storage`:
//   class fast   waits         # until a pod is placed; otherwise volumes are made at once
//   class local  waits  manual # nobody makes volumes
//   volume v1    class=local  size=10Gi  host=n1
//   claim data   class=fast   size=1Gi
//   limit n1     volumes=2
namespace muster::sim {

Result<Action> read_storage(const Line& line);
// "claim data Bound": the phase of a claim.
Result<std::function<Unmet(const Stage&)>> read_claim_expectation(Words words);

}  // namespace muster::sim
