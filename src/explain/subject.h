#pragma once

#include <string>
#include <variant>

#include "scheduler/framework/entity.h"

// Whom somebody asks about.
namespace muster::explain {

struct PodKey {
  std::string name_space;
  std::string name;
};
// An object whose controller makes groups for it: a Job, a JobSet, a LeaderWorkerSet.
struct WorkloadOwner {
  std::string group;  // of the API
  std::string kind;
  std::string name_space;
  std::string name;
};
using Subject = std::variant<scheduler::GroupKey, PodKey, WorkloadOwner>;

}  // namespace muster::explain
