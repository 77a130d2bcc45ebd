#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "controllers/deployment/deployment_status.h"
#include "controllers/deployment/rollout_sets.h"

namespace muster::controllers {

// What to do about a Deployment right now; a function of what is stored and the time alone.
struct DeploymentPlan {
  struct Change {
    api::ObjectPtr set;
    std::int64_t replicas;
    Annotations annotations;  // to be set
    bool min_ready = false;   // its minReadySeconds should be the Deployment's
  };
  struct NewSet {
    std::int64_t replicas = 0;
    Annotations annotations;
  };
  std::vector<Change> changes;  // old sets first, the oldest of them first
  std::optional<NewSet> create;
  std::vector<api::ObjectPtr> remove;    // history beyond its limit
  std::optional<std::int64_t> revision;  // of its annotation, if that should change
  DeploymentStatus status;
  std::optional<Time> again;  // when there may be something to do, if nothing happens
};

// `sets`: the ReplicaSets it controls.
DeploymentPlan plan_deployment(const api::Object& deployment, std::vector<api::ObjectPtr> sets,
                               Time now);

}  // namespace muster::controllers
