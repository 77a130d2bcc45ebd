#pragma once

#include <cstdint>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/ids.h"

namespace muster::scheduler {

// Pods that filters and scores cannot tell apart: equal needs (api::PodNeeds). Name, owner and
// priority are not in it, so that a gang is a handful of classes. Lives in the cluster until it is
// released.
struct PodClass {
  struct Want {
    ResourceId resource;
    std::int64_t amount;
  };

  ClassId id{};
  api::ObjectPtr sample;  // one pod of the class; owns `needs`
  const api::PodNeeds* needs = nullptr;
  std::vector<Want> wants;  // requests above 0, by column: what must be free
  std::vector<Want> usage;  // what a pod of the class takes on a node, above 0
  std::uint32_t users = 0;  // how many hold on to it
};

}  // namespace muster::scheduler
