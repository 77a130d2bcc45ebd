#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "explain/explain.h"
#include "explain/objects.h"

namespace muster::explain {

// An object whose controller makes a Workload and groups for it: a Job, a JobSet.
struct WorkloadOwner {
  std::string group;  // of the API
  std::string kind;
  std::string name_space;
  std::string name;
};

// The topmost groups that were made for it, by name; those that are going only if there are no
// others. NotFound says what is missing.
Result<std::vector<Subject>> root_groups(const Objects& objects, const WorkloadOwner& owner);

}  // namespace muster::explain
