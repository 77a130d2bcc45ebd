#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/ids.h"
#include "scheduler/volumes/volume_needs.h"

namespace muster::scheduler {

// Pods that filters and scores cannot tell apart: equal needs (api::PodNeeds), and claims
// that ask for the same (VolumeNeeds). Name, owner and
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
  // What its claims ask for, as they stood when the class was made: a pod whose claims have changed
  // is of another class. Null for pods without claims and
  // disks.
  std::shared_ptr<const VolumeNeeds> volumes;
  std::vector<Want> wants;  // requests above 0, by column: what must be free
  std::vector<Want> usage;  // what a pod of the class takes on a node, above 0
  std::uint64_t hash = 0;   // under which it is found
  std::uint32_t users = 0;  // how many hold on to it
};

}  // namespace muster::scheduler
