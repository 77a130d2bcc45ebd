#pragma once

#include "api/json.h"
#include "api/kinds/kind.h"

namespace muster::api {

// Leaves of an object, as a server sent it, what a scheduler reads, by views or otherwise: a pod of
// some kilobytes becomes one of a few hundred bytes. Nobody writes such objects back: components
// patch, so that what is left out here stays as it is on the server. Of kinds that are small, only
// the record of who manages which field goes.
void project_for_scheduler(const Kind& kind, Json& document);

}  // namespace muster::api
