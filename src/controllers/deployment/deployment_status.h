#pragma once

#include <optional>
#include <string_view>

#include "api/object.h"
#include "api/request.h"
#include "api/views/deployment_view.h"
#include "controllers/deployment/rollout_sets.h"

// What a Deployment's status says about its rollout.
namespace muster::controllers {

using DeploymentStatus = api::DeploymentView::Status;

// Sets a condition. If status and reason are unchanged nothing changes; if only the status is, the
// transition time stays.
void set_condition(DeploymentStatus& status, api::DeploymentCondition condition);
api::DeploymentCondition make_condition(std::string_view type, std::string_view status,
                                        std::string_view reason, std::string message, Time now);

// Says that the Deployment is paused, or no longer. Only rollouts with a deadline say so.
void say_paused(const api::DeploymentView& deployment, DeploymentStatus& status, Time now);
// The numbers, and the condition Available. Conditions of `before` stay.
DeploymentStatus count_sets(const api::Object& deployment, const DeploymentStatus& before,
                            RolloutSets& sets, Time now);
// Judges the progress of the rollout: conditions Progressing and ReplicaFailure. `before` is the
// status it is compared with.
void judge_progress(const api::Object& deployment, const DeploymentStatus& before,
                    RolloutSets& sets, DeploymentStatus& status, Time now);
// When the deadline of the rollout passes if nothing happens; none if it has none to meet.
std::optional<Time> progress_due(const api::Object& deployment, const DeploymentStatus& status);

bool is_complete(const api::Object& deployment, const DeploymentStatus& status);
api::Request deployment_status_request(const api::Object& deployment,
                                       const DeploymentStatus& status);

}  // namespace muster::controllers
