#pragma once

#include <cstdint>
#include <string>

#include "api/object.h"

namespace muster::scheduler {

// What happened to the cluster, in the terms plugins register interest in.
enum class Action : std::uint32_t {
  Add = 1,
  Delete = 2,
  UpdateNodeAllocatable = 4,
  UpdateNodeLabel = 8,
  UpdateNodeTaint = 16,
  UpdateNodeCondition = 32,
  UpdateNodeAnnotation = 64,
  UpdateNodeDeclaredFeature = 128,
  UpdatePodLabel = 512,
  UpdatePodScaleDown = 1024,
  UpdatePodScaleUp = 2048,
  UpdatePodToleration = 4096,
  UpdatePodSchedulingGatesEliminated = 8192,
  Update = 32764,  // of kinds whose changes are not distinguished
};

enum class Resource : std::uint8_t {
  Node,
  AssignedPod,
  UnscheduledPod,
  TargetPod,
  PodGroup,
  CompositePodGroup,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  CSINode,
  CSIDriver,
  CSIStorageCapacity,
  VolumeAttachment
};

struct ClusterEvent {
  Resource resource = Resource::Node;
  Action action = Action::Add;
  api::ObjectPtr before;  // null for Add
  api::ObjectPtr after;   // null for Delete
};

}  // namespace muster::scheduler
