#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/object.h"
#include "api/views/deployment_view.h"
#include "api/views/replica_set_view.h"
#include "controllers/deployment/set_annotations.h"

// The ReplicaSets of a Deployment while a plan changes their sizes.
namespace muster::controllers {

struct RolloutSet {
  api::ObjectPtr object;         // null: to be made
  std::int64_t replicas = 0;     // wanted
  bool sized = false;            // its annotations should say for which size of the Deployment
  Annotations annotations = {};  // to be set, besides those

  const api::ReplicaSetView::Status& status() const;
  std::int64_t replicas_before() const;
  bool is_changed() const { return object == nullptr || replicas != replicas_before(); }
};

struct RolloutSets {
  std::optional<RolloutSet> newest;  // of the current template
  std::vector<RolloutSet> old;       // the oldest first

  // All that exist or are to be made, the newest last.
  std::vector<RolloutSet*> all();
  std::vector<RolloutSet*> active();  // those that want pods
  std::int64_t wanted() const;        // replicas of all
};
// Of several sets with the current template the oldest is `newest`: so everybody agrees on it.
RolloutSets split_sets(const api::DeploymentView& deployment, std::vector<api::ObjectPtr> sets);

// How far a rollout may go beyond and below the wanted number.
std::int64_t max_surge(const api::DeploymentView& deployment);
std::int64_t max_unavailable(const api::DeploymentView& deployment);

// Sizes follow the Deployment's. Several active sets share the change in proportion.
void scale_in_proportion(const api::DeploymentView& deployment, RolloutSets& sets);
// One step: the newest grows as far as the surge allows, or else old ones shrink as far as the pods
// that are available allow, those that are not available first.
void roll(const api::DeploymentView& deployment, RolloutSets& sets);
// The size the newest set should have in a step.
std::int64_t newest_size(const api::DeploymentView& deployment, const RolloutSets& sets);

}  // namespace muster::controllers
