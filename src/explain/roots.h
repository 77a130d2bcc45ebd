#pragma once

#include <vector>

#include "base/result.h"
#include "explain/objects.h"
#include "explain/subject.h"

namespace muster::explain {

// The topmost groups that were made for it, in the natural order of their names; those being
// deleted only if there are no others. NotFound says what is missing.
Result<std::vector<scheduler::GroupKey>> root_groups(const Objects& objects,
                                                     const WorkloadOwner& owner);

}  // namespace muster::explain
