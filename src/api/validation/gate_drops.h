#pragma once

#include "api/gates/gates.h"
#include "api/json.h"

// Fields whose gate is off are dropped silently before a write is validated, unless the
// stored object already has them: switching a gate off never clears what is stored. `old` is null
// on create.
namespace muster::api {

void drop_disabled_workload_fields(Json& now, const Json* old, const Gates& gates);
// From the spec on the main endpoint and from the status on /status.
void drop_disabled_pod_group_fields(Json& now, const Json* old, const Gates& gates);
void drop_disabled_composite_pod_group_fields(Json& now, const Json* old, const Gates& gates);
// schedulingGroup; `now` and `old` are pods or pod templates.
void drop_disabled_pod_fields(Json& now, const Json* old, const Gates& gates);

}  // namespace muster::api
