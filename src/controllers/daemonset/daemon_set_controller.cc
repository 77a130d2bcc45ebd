#include "controllers/daemonset/daemon_set_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/views/controller_revision_view.h"
#include "api/views/node_view.h"
#include "controllers/common/adoption.h"
#include "controllers/common/pod_facts.h"
#include "controllers/common/revisions.h"
#include "controllers/common/status_request.h"

namespace muster::controllers {
namespace {

using api::DaemonSetView;
using api::Json;
using api::JsonObject;
using api::ObjectPtr;

// A look costs as much as there are nodes: what nodes and pods do is collected for a moment.
constexpr Duration kBatchPeriod = std::chrono::milliseconds{100};
constexpr Duration kPauseMin = std::chrono::seconds{1};
constexpr Duration kPauseMax = std::chrono::minutes{15};
constexpr std::string_view kAll = "all";         // the term of every object
constexpr std::string_view kNodesKey = "nodes";  // stands for all sets: nodes have changed
constexpr std::size_t kSetsMax = 500;            // that are made due at once

const api::Kind& set_kind() {
  static const api::Kind& kKind = apps_kind("DaemonSet");
  return kKind;
}

bool is_set(const api::OwnerReference& owner) {
  return owner.kind == "DaemonSet" && group_of(owner.api_version) == "apps";
}

bool is_ours(const api::Object& object) {
  const api::OwnerReference* owner = controller_of(object);
  return owner == nullptr || is_set(*owner);
}

void index_set(const api::Object& set, std::vector<std::string>& out) {
  out.emplace_back(kAll);
  const auto& view = set.view<DaemonSetView>();
  if (view.selector) index_selector(set.meta().name_space, *view.selector, out);
}

api::Request status_request(const api::Object& set, const DaemonSetView::Status& status) {
  JsonObject out = api::members(set.document(), "status");
  out["currentNumberScheduled"] = status.current;
  out["numberMisscheduled"] = status.misscheduled;
  out["desiredNumberScheduled"] = status.desired;
  out["numberReady"] = status.ready;
  put_count(out, "observedGeneration", status.observed_generation);
  put_count(out, "updatedNumberScheduled", status.updated);
  put_count(out, "numberAvailable", status.available);
  put_count(out, "numberUnavailable", status.unavailable);
  if (status.collisions) out["collisionCount"] = *status.collisions;
  return replace_status_request(set, std::move(out));
}

}  // namespace

DaemonSetController::DaemonSetController(client::ComponentContext context)
    : PodController("daemonset", std::move(context), watches(*this)),
      sets_({.own = index_set}),
      pods_({.owners = true, .own = index_free}),
      nodes_({.own = [](const api::Object&,
                        std::vector<std::string>& out) { out.emplace_back(kAll); }}),
      revisions_({.owners = true}) {}

std::vector<DaemonSetController::Watch> DaemonSetController::watches(DaemonSetController& self) {
  return {{.kind = &set_kind(),
           .mirror = &self.sets_,
           .keys_of = [&self](const Change& change) { return self.showed_itself(change); }},
          {.kind = &api::kinds::pod(),
           .mirror = &self.pods_,
           .keys_of = [&self](const Change& change) { return self.on_pod(change); },
           .only = is_ours},
          {.kind = &api::kinds::node(),
           .mirror = &self.nodes_,
           .keys_of = [&self](const Change& change) { return self.on_node(change); }},
          {.kind = &controller_revision_kind(),
           .mirror = &self.revisions_,
           .keys_of = [&self](const Change& change) { return self.on_revision(change); }}};
}

DaemonSetController::Keys DaemonSetController::on_pod(const Change& change) {
  for (const ObjectPtr& version : {change.before, change.after}) {
    const ObjectPtr set = version == nullptr ? nullptr : controller_in(sets_, *version);
    if (set == nullptr) continue;
    const std::string key = api::key_text(set->meta());
    showed(key, change);
    work().add_at(change.at + kBatchPeriod, key);
  }
  return free_key(sets_, change.after);
}

DaemonSetController::Keys DaemonSetController::on_node(const Change& change) {
  // Heartbeats and what the node reports do not matter.
  if (change.before != nullptr && change.after != nullptr &&
      change.before->meta().labels == change.after->meta().labels &&
      change.before->view<api::NodeView>().taints == change.after->view<api::NodeView>().taints)
    return {};
  nodes_changed_ = true;
  work().add_at(change.at + kBatchPeriod, kNodesKey);
  return {};
}

// All sets are to be looked at, however many there are: some, then it is others' turn.
void DaemonSetController::make_all_due(Time now) {
  if (!going_over_sets_) nodes_changed_ = false;
  const client::Mirror::Entries& sets = sets_.indexed(kAll);
  const client::Mirror::Entry last{last_set_};
  auto at = going_over_sets_ ? sets.upper_bound(&last) : sets.begin();
  for (std::size_t i = 0; i < kSetsMax && at != sets.end(); ++i, ++at) {
    last_set_ = (*at)->object;
    work().add(api::key_text(last_set_->meta()), now);
  }
  going_over_sets_ = at != sets.end();
  if (going_over_sets_) return work().add(kNodesKey, now);
  last_set_ = nullptr;
  if (nodes_changed_) work().add_at(now + kBatchPeriod, kNodesKey);
}

DaemonSetController::Keys DaemonSetController::on_revision(const Change& change) {
  const ObjectPtr set = controller_in(sets_, change.newest());
  if (set == nullptr) return {};
  std::string key = api::key_text(set->meta());
  showed(key, change);
  return {std::move(key)};
}

void DaemonSetController::reconcile(const std::string& key, Time now) {
  if (key == kNodesKey) return make_all_due(now);
  if (looks_for_owners<DaemonSetView>(sets_, pods_, key, now)) return;
  const ObjectPtr set = begin_look_at(sets_, memory_, key);
  if (set == nullptr) return;
  const auto& selector = set->view<DaemonSetView>().selector;
  if (waits(key, now) || !selector || selector->selects_everything()) return;
  const Claim claim = find_claim(pods_, *set, *selector);
  if (adopt_and_release(key, *set, claim)) return;
  const std::vector<ObjectPtr> revisions = revisions_of(*set, revisions_);
  const ObjectPtr newest = newest_revision_of(key, *set, revisions);
  if (newest == nullptr) return;
  const DaemonPods pods(*set, hash_of(*newest));
  Memory& memory = memory_[key];
  const DaemonPlan plan = plan_daemons({.set = *set,
                                        .pods = pods,
                                        .existing = claim.owned,
                                        .nodes = nodes_.indexed(kAll),
                                        .now = now,
                                        .retry_at = [&memory](const std::string& node) {
                                          const auto at = memory.find(node);
                                          return at == memory.end() ? Time{} : at->second.until;
                                        }});
  for (const ObjectPtr& pod : claim.owned)
    if (is_ready(pod->view<api::PodView>())) memory.erase(std::string(node_of(*pod)));
  carry_out(key, set, pods, plan, now);
  forget_history(key, *set, revisions, *newest, claim.owned);
}

ObjectPtr DaemonSetController::newest_revision_of(const std::string& key, const api::Object& set,
                                                  const std::vector<ObjectPtr>& revisions) {
  const Json document = set.document();
  const Json& pod_template = api::part_of(api::part_of(document, "spec"), "template");
  const Json data = template_patch(pod_template);
  const auto& view = set.view<DaemonSetView>();
  NewestRevision newest =
      newest_revision({.owner = set,
                       .data = data,
                       .data_text = api::sorted_text(data),
                       .labels = api::members(api::part_of(pod_template, "metadata"), "labels"),
                       .collisions = static_cast<std::int32_t>(view.status.collisions.value_or(0))},
                      revisions, revisions_);
  if (!newest.request || set.meta().deletion_time) return newest.found;
  if (newest.collisions != view.status.collisions.value_or(0)) {
    DaemonSetView::Status status = view.status;
    status.collisions = newest.collisions;
    write_call(key, status_request(set, status));
  }
  write_call(key, *std::move(newest.request));
  return nullptr;
}

void DaemonSetController::carry_out(const std::string& key, const ObjectPtr& set,
                                    const DaemonPods& pods, const DaemonPlan& plan, Time now) {
  if (plan.again) work().add_at(*plan.again, key);
  for (const ObjectPtr& pod : plan.ended) say_ended(key, *set, *pod, now);
  for (const ObjectPtr& pod : plan.remove) delete_pod(key, set, pod);
  create_pods({.key = key,
               .owner = set,
               .count = plan.create.size(),
               .start_making = [set, hash = pods.hash(), nodes = plan.create] {
                 const auto made_from = std::make_shared<const DaemonPods>(*set, hash);
                 return [&nodes, made_from](std::size_t at) { return made_from->make(nodes[at]); };
               }});
  if (plan.status != set->view<DaemonSetView>().status)
    write_call(key, status_request(*set, plan.status));
}

void DaemonSetController::say_ended(const std::string& key, const api::Object& set,
                                    const api::Object& pod, Time now) {
  const bool failed = pod.view<api::PodView>().phase == "Failed";
  const std::string node(node_of(pod));
  record(set,
         {failed ? "Warning" : "Normal", failed ? "FailedDaemonPod" : "SucceededDaemonPod",
          "Reconciling",
          fmt::format("Found {} daemon pod {} on node {}, will try to {} it",
                      failed ? "failed" : "succeeded", api::key_text(pod.meta()), node,
                      failed ? "kill" : "delete")},
         now);
  if (!failed) return;
  Backoff& backoff = memory_[key][node];
  backoff.pause = std::clamp(backoff.pause * 2, kPauseMin, kPauseMax);
  backoff.until = now + backoff.pause;
}

void DaemonSetController::forget_history(const std::string& key, const api::Object& set,
                                         const std::vector<ObjectPtr>& revisions,
                                         const api::Object& newest,
                                         const std::vector<ObjectPtr>& pods) {
  std::set<std::string_view> live{hash_of(newest)};
  for (const ObjectPtr& pod : pods)
    if (const std::string* hash = api::lookup(pod->meta().labels, kPodRevision)) live.insert(*hash);
  std::set<std::string_view> live_names;
  for (const ObjectPtr& revision : revisions)
    if (live.contains(hash_of(*revision))) live_names.insert(revision->meta().name);
  for (const ObjectPtr& revision :
       surplus_revisions(revisions, set.view<DaemonSetView>().history_limit,
                         [&](std::string_view name) { return live_names.contains(name); }))
    write_call(key, client::delete_request(*revision, std::nullopt));
}

}  // namespace muster::controllers
