#include "controllers/deployment/deployment_controller.h"

#include <fmt/format.h>

#include <ranges>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/views/deployment_view.h"
#include "api/views/replica_set_view.h"
#include "controllers/common/adoption.h"
#include "controllers/common/revisions.h"

namespace muster::controllers {
namespace {

using api::DeploymentView;
using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::ObjectPtr;
using api::ReplicaSetView;

// How many sets are adopted, released or deleted in one look; the next goes on.
constexpr std::size_t kSetsMax = 500;

const api::Kind& deployment_kind() {
  static const api::Kind& kKind = apps_kind("Deployment");
  return kKind;
}

const api::Kind& set_kind() {
  static const api::Kind& kKind = apps_kind("ReplicaSet");
  return kKind;
}

void index_deployment(const api::Object& deployment, std::vector<std::string>& out) {
  const auto& view = deployment.view<DeploymentView>();
  if (view.selector) index_selector(deployment.meta().name_space, *view.selector, out);
}

std::string template_hash(const DeploymentView& deployment) {
  return revision_hash(deployment.template_text,
                       static_cast<std::int32_t>(deployment.status.collisions.value_or(0)));
}

JsonObject to_json(const Annotations& annotations) {
  JsonObject out;
  for (const auto& [key, value] : annotations) out[key] = value;
  return out;
}

// The document of a ReplicaSet for the current template.
JsonObject new_set(const api::Object& deployment, const std::string& name, std::string_view hash,
                   const DeploymentPlan::NewSet& set) {
  const Json document = deployment.document();
  const Json& from = api::part_of(document, "spec");
  JsonObject pod_template = api::members(from, "template");
  JsonObject& labels = api::ensure_object(api::ensure_object(pod_template, "metadata"), "labels");
  labels[api::kPodTemplateHash] = hash;
  JsonObject selector = api::members(from, "selector");
  api::ensure_object(selector, "matchLabels")[api::kPodTemplateHash] = hash;
  JsonObject metadata{{"name", name},
                      {"namespace", deployment.meta().name_space},
                      {"labels", labels},
                      {"annotations", to_json(set.annotations)},
                      {"ownerReferences", JsonArray{owner_reference(deployment)}}};
  JsonObject spec{{"replicas", set.replicas}, {"selector", std::move(selector)}};
  if (const auto min_ready = api::find_integer(from, "minReadySeconds"))
    spec["minReadySeconds"] = *min_ready;
  spec["template"] = std::move(pod_template);
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

api::Request change_request(const DeploymentPlan::Change& change, Duration min_ready) {
  const api::ObjectMeta& meta = change.set->meta();
  JsonObject metadata{{"uid", meta.uid}};
  if (!change.annotations.empty()) metadata["annotations"] = to_json(change.annotations);
  JsonObject body{{"metadata", std::move(metadata)}};
  JsonObject spec;
  if (change.replicas != change.set->view<ReplicaSetView>().replicas)
    spec["replicas"] = change.replicas;
  if (change.min_ready)
    spec["minReadySeconds"] = std::chrono::duration_cast<std::chrono::seconds>(min_ready).count();
  if (!spec.empty()) body["spec"] = std::move(spec);
  return client::patch_request(set_kind(), meta.name_space, meta.name, "", api::PatchType::Merge,
                               std::move(body));
}

client::EventNote scaled_note(std::string_view set, std::int64_t from, std::int64_t to) {
  return {"Normal", "ScalingReplicaSet", "Reconciling",
          fmt::format("Scaled {} replica set {} from {} to {}", from < to ? "up" : "down", set,
                      from, to)};
}

}  // namespace

DeploymentController::DeploymentController(client::ComponentContext context)
    : WritingController(
          "deployment", std::move(context),
          {{.kind = &deployment_kind(),
            .mirror = &deployments_,
            .keys_of = [this](const Change& change) { return showed_itself(change); }},
           {.kind = &set_kind(),
            .mirror = &sets_,
            .keys_of = [this](const Change& change) { return on_set(change); }}}),
      deployments_({.own = index_deployment}),
      sets_({.owners = true, .own = index_free}) {}

DeploymentController::Keys DeploymentController::on_set(const Change& change) {
  Keys keys;
  for (const ObjectPtr& version : {change.before, change.after}) {
    const ObjectPtr deployment =
        version == nullptr ? nullptr : controller_in(deployments_, *version);
    if (deployment == nullptr) continue;
    keys.push_back(api::key_text(deployment->meta()));
    showed(keys.back(), change);
  }
  for (std::string& key : free_key(deployments_, change.after)) keys.push_back(std::move(key));
  return keys;
}

void DeploymentController::reconcile(const std::string& key, Time now) {
  if (looks_for_owners<DeploymentView>(deployments_, sets_, key, now)) return;
  begin_look(key);
  const auto [name_space, name] = client::split_key(key);
  const ObjectPtr deployment = deployments_.find(name_space, name);
  if (deployment == nullptr) return forget_writes(key);
  if (waits(key, now)) return;
  const auto& selector = deployment->view<DeploymentView>().selector;
  if (!selector || selector->selects_everything()) return;
  Claim claim = find_claim(sets_, *deployment, *selector);
  for (const ObjectPtr& set : claim.adopt | std::views::take(kSetsMax))
    write_call(key, adopt_request(*set, *deployment));
  for (const ObjectPtr& set : claim.release | std::views::take(kSetsMax))
    write_call(key, release_request(*set, *deployment));
  if (!claim.adopt.empty() || !claim.release.empty()) return;
  const DeploymentPlan plan = plan_deployment(*deployment, std::move(claim.owned), now);
  if (plan.again) work().add_at(*plan.again, key);
  carry_out(key, deployment, plan);
}

void DeploymentController::carry_out(const std::string& key, const ObjectPtr& deployment,
                                     const DeploymentPlan& plan) {
  for (const DeploymentPlan::Change& change : plan.changes) change_set(key, deployment, change);
  if (plan.create) create_set(key, deployment, *plan.create);
  for (const ObjectPtr& set : plan.remove | std::views::take(kSetsMax))
    write_call(key, client::delete_request(*set, std::nullopt));
  // The status is written about the version it was computed from, so the annotation comes first.
  if (plan.revision)
    write_call(key, patch_meta_request(
                        *deployment, {{"annotations",
                                       JsonObject{{kRevision, std::to_string(*plan.revision)}}}}));
  else if (plan.status != deployment->view<DeploymentView>().status)
    write_call(key, deployment_status_request(*deployment, plan.status));
}

void DeploymentController::change_set(const std::string& key, const ObjectPtr& deployment,
                                      const DeploymentPlan::Change& change) {
  const std::int64_t from = change.set->view<ReplicaSetView>().replicas;
  write_call(key, change_request(change, deployment->view<DeploymentView>().min_ready),
             [this, deployment, set = change.set, from, to = change.replicas](
                 const client::Outcome& outcome, Time now) {
               if (outcome && from != to)
                 record(*deployment, scaled_note(set->meta().name, from, to), now);
             });
}

void DeploymentController::create_set(const std::string& key, const ObjectPtr& deployment,
                                      const DeploymentPlan::NewSet& set) {
  const std::string hash = template_hash(deployment->view<DeploymentView>());
  const std::string name = deployment->meta().name + "-" + hash;
  write_call(
      key,
      client::create_request(set_kind(), deployment->meta().name_space,
                             new_set(*deployment, name, hash, set)),
      [this, key, deployment, name, to = set.replicas](const client::Outcome& outcome, Time now) {
        if (!outcome)
          on_create_failed(key, deployment, name, outcome.error(), now);
        else if (to > 0)
          record(*deployment, scaled_note(name, 0, to), now);
      });
}

void DeploymentController::on_create_failed(const std::string& key, const ObjectPtr& deployment,
                                            const std::string& name, const Error& error, Time now) {
  if (error.reason == Reason::AlreadyExists) return on_name_taken(key, *deployment, name);
  if (is_name_space_ending(error)) return;
  const std::string message =
      fmt::format("Failed to create new replica set \"{}\": {}", name, error.message);
  record(*deployment, {"Warning", "ReplicaSetCreateError", "Reconciling", message}, now);
  const auto& view = deployment->view<DeploymentView>();
  if (!view.progress_deadline) return;
  DeploymentStatus status = view.status;
  set_condition(status,
                make_condition("Progressing", "False", "ReplicaSetCreateError", message, now));
  if (status != view.status) write_call(key, deployment_status_request(*deployment, status));
}

// Another template has the same hash, or somebody else the name: the next look tries another one.
void DeploymentController::on_name_taken(const std::string& key, const api::Object& deployment,
                                         const std::string& name) {
  const ObjectPtr taken = sets_.find(deployment.meta().name_space, name);
  if (taken == nullptr) return;  // the feed will show it
  const auto& view = deployment.view<DeploymentView>();
  if (is_controlled_by(*taken, deployment.meta().uid) &&
      taken->view<ReplicaSetView>().template_text == view.template_text)
    return;
  DeploymentStatus status = view.status;
  status.collisions = status.collisions.value_or(0) + 1;
  write_call(key, deployment_status_request(deployment, status));
}

}  // namespace muster::controllers
