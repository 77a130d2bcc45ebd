#pragma once

#include <span>

#include "api/object.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/framework/plan.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {

// Upstream's fit error for a pod that fits nowhere. For all nodes see kept_report.h.
Refusal refuse(const api::ObjectPtr& pod, const Standing& standing, Cluster& cluster);
Refusal refuse(const api::ObjectPtr& pod, const Standing& standing, std::span<const NodeId> nodes);

}  // namespace muster::scheduler
