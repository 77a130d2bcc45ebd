#include "controllers/deployment/deployment_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "api/reading.h"
#include "api/values/string_pairs.h"
#include "controllers/common/status_request.h"

namespace muster::controllers {
namespace {

using api::DeploymentCondition;
using api::DeploymentView;
using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kProgressing = "Progressing";
constexpr std::string_view kFailure = "ReplicaFailure";
constexpr std::string_view kAvailableReason = "NewReplicaSetAvailable";
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";
constexpr std::string_view kPaused = "DeploymentPaused";
constexpr std::string_view kResumed = "DeploymentResumed";

void remove_condition(DeploymentStatus& status, std::string_view type) {
  std::erase_if(status.conditions,
                [&](const DeploymentCondition& condition) { return condition.type == type; });
}

std::string_view reason_of(const DeploymentCondition* condition) {
  return condition == nullptr ? std::string_view() : std::string_view(condition->reason);
}

// Something moved since `before`.
bool has_progressed(const DeploymentStatus& before, const DeploymentStatus& status) {
  return status.updated > before.updated ||
         status.replicas - status.updated < before.replicas - before.updated ||
         status.ready > before.ready || status.available > before.available;
}

bool has_timed_out(const DeploymentView& deployment, const DeploymentCondition* condition,
                   Time now) {
  if (condition == nullptr || condition->reason == kAvailableReason) return false;
  if (condition->reason == kTimedOut) return true;
  return condition->last_update && *condition->last_update + *deployment.progress_deadline < now;
}

// Whether what the condition says is about the newest set: its messages name it. What a pause or
// a failure to make a set left behind says nothing of it.
bool is_about(const DeploymentCondition& condition, const api::Object& set) {
  if (condition.reason == "ReplicaSetCreateError") return false;
  if (condition.reason == kPaused || condition.reason == kResumed)
    return set.meta().creation_time <= condition.last_update;
  return condition.message.find(fmt::format("\"{}\"", set.meta().name)) != std::string::npos;
}

// Replaces what is said of the progress; the time of the transition stays if the status does.
void say_progress(DeploymentStatus& status, DeploymentCondition condition) {
  if (const DeploymentCondition* said = status.condition(kProgressing);
      said != nullptr && said->status == condition.status)
    condition.last_transition = said->last_transition;
  remove_condition(status, kProgressing);
  status.conditions.push_back(std::move(condition));
}

// A rollout to another set starts the clock of its deadline, no matter who made the set and when.
void say_begun(const api::Object& deployment, const api::Object& set, DeploymentStatus& status,
               Time now) {
  const DeploymentCondition* said = status.condition(kProgressing);
  if (said != nullptr && is_about(*said, set)) return;
  const bool found = api::lookup(set.meta().annotations, kRevisionHistory) != nullptr ||
                     set.meta().creation_time < deployment.meta().creation_time;
  say_progress(status, make_condition(kProgressing, "True",
                                      found ? "FoundNewReplicaSet" : "NewReplicaSetCreated",
                                      fmt::format("{} new replica set \"{}\"",
                                                  found ? "Found" : "Created", set.meta().name),
                                      now));
}

void say_failures(RolloutSets& sets, DeploymentStatus& status) {
  std::vector<RolloutSet*> all = sets.all();
  std::ranges::reverse(all);  // what holds the newest one up comes first
  for (const RolloutSet* set : all) {
    if (set->object == nullptr) continue;
    const auto& failure = set->object->view<api::ReplicaSetView>().failure;
    if (!failure) continue;
    DeploymentCondition condition;
    static_cast<api::Condition&>(condition) = *failure;
    condition.last_update = condition.last_transition = failure->last_transition;
    return set_condition(status, std::move(condition));
  }
  remove_condition(status, kFailure);
}

JsonObject to_json(const DeploymentCondition& condition) {
  JsonObject out{{"type", condition.type}, {"status", condition.status}};
  if (!condition.reason.empty()) out["reason"] = condition.reason;
  if (!condition.message.empty()) out["message"] = condition.message;
  if (condition.last_update) out["lastUpdateTime"] = format_time(*condition.last_update);
  if (condition.last_transition)
    out["lastTransitionTime"] = format_time(*condition.last_transition);
  return out;
}

}  // namespace

DeploymentCondition make_condition(std::string_view type, std::string_view status,
                                   std::string_view reason, std::string message, Time now) {
  DeploymentCondition out;
  out.type = type;
  out.status = status;
  out.reason = reason;
  out.message = std::move(message);
  // Statuses keep whole seconds.
  out.last_update = out.last_transition = std::chrono::floor<std::chrono::seconds>(now);
  return out;
}

void set_condition(DeploymentStatus& status, DeploymentCondition condition) {
  if (const DeploymentCondition* old = status.condition(condition.type)) {
    if (old->status == condition.status && old->reason == condition.reason) return;
    if (old->status == condition.status) condition.last_transition = old->last_transition;
  }
  remove_condition(status, condition.type);
  status.conditions.push_back(std::move(condition));
}

void say_paused(const DeploymentView& deployment, DeploymentStatus& status, Time now) {
  const std::string_view reason = reason_of(status.condition(kProgressing));
  if (!deployment.progress_deadline || reason == kTimedOut) return;
  if (deployment.paused && reason != kPaused)
    set_condition(status,
                  make_condition(kProgressing, "Unknown", kPaused, "Deployment is paused", now));
  else if (!deployment.paused && reason == kPaused)
    set_condition(status,
                  make_condition(kProgressing, "Unknown", kResumed, "Deployment is resumed", now));
}

DeploymentStatus count_sets(const api::Object& deployment, const DeploymentStatus& before,
                            RolloutSets& sets, Time now) {
  const auto& view = deployment.view<DeploymentView>();
  DeploymentStatus status{.observed_generation = deployment.meta().generation,
                          .terminating = 0,
                          .collisions = before.collisions,
                          .conditions = before.conditions};
  for (const RolloutSet* set : sets.all()) {
    const auto& counts = set->status();
    status.replicas += counts.replicas;
    status.ready += counts.ready;
    status.available += counts.available;
    *status.terminating += counts.terminating.value_or(0);
  }
  if (sets.newest) status.updated = sets.newest->status().replicas;
  status.unavailable = std::max<std::int64_t>(0, sets.wanted() - status.available);
  const bool enough = status.available >= view.replicas - max_unavailable(view);
  set_condition(status,
                make_condition("Available", enough ? "True" : "False",
                               enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                               enough ? "Deployment has minimum availability."
                                      : "Deployment does not have minimum availability.",
                               now));
  return status;
}

void judge_progress(const api::Object& deployment, const DeploymentStatus& before,
                    RolloutSets& sets, DeploymentStatus& status, Time now) {
  const auto& view = deployment.view<DeploymentView>();
  say_failures(sets, status);
  if (!view.progress_deadline) return remove_condition(status, kProgressing);
  const api::Object* set = sets.newest ? sets.newest->object.get() : nullptr;
  const std::string who = set != nullptr ? fmt::format("ReplicaSet \"{}\"", set->meta().name)
                                         : fmt::format("Deployment \"{}\"", deployment.meta().name);
  const DeploymentCondition* said = status.condition(kProgressing);
  const bool was_done =
      reason_of(said) == kAvailableReason && (set == nullptr || is_about(*said, *set));
  if (is_complete(deployment, status)) {
    if (!was_done)
      say_progress(status, make_condition(kProgressing, "True", kAvailableReason,
                                          who + " has successfully progressed.", now));
    return;
  }
  // No rollout since it was complete: sizes that change are no progress.
  if (was_done && status.replicas == status.updated) return;
  if (set != nullptr) say_begun(deployment, *set, status, now);
  if (has_progressed(before, status))
    say_progress(status, make_condition(kProgressing, "True", "ReplicaSetUpdated",
                                        who + " is progressing.", now));
  else if (has_timed_out(view, status.condition(kProgressing), now))
    set_condition(status, make_condition(kProgressing, "False", kTimedOut,
                                         who + " has timed out progressing.", now));
}

std::optional<Time> progress_due(const api::Object& deployment, const DeploymentStatus& status) {
  const auto& view = deployment.view<DeploymentView>();
  const DeploymentCondition* said = status.condition(kProgressing);
  if (!view.progress_deadline || view.paused || said == nullptr || !said->last_update ||
      said->reason == kTimedOut || said->reason == kAvailableReason)
    return std::nullopt;
  return *said->last_update + *view.progress_deadline + std::chrono::seconds{1};
}

bool is_complete(const api::Object& deployment, const DeploymentStatus& status) {
  const std::int64_t replicas = deployment.view<DeploymentView>().replicas;
  return status.updated == replicas && status.replicas == replicas &&
         status.available == replicas && status.observed_generation >= deployment.meta().generation;
}

api::Request deployment_status_request(const api::Object& deployment,
                                       const DeploymentStatus& status) {
  const Json document = deployment.document();
  JsonObject out = api::members(document, "status");
  put_count(out, "observedGeneration", status.observed_generation);
  put_count(out, "replicas", status.replicas);
  put_count(out, "updatedReplicas", status.updated);
  put_count(out, "readyReplicas", status.ready);
  put_count(out, "availableReplicas", status.available);
  put_count(out, "unavailableReplicas", status.unavailable);
  if (status.terminating) out["terminatingReplicas"] = *status.terminating;
  if (status.collisions) out["collisionCount"] = *status.collisions;
  JsonArray conditions;
  for (const DeploymentCondition& condition : status.conditions)
    conditions.push_back(to_json(condition));
  out["conditions"] = std::move(conditions);
  return replace_status_request(deployment, std::move(out));
}

}  // namespace muster::controllers
