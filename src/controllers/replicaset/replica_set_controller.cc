#include "controllers/replicaset/replica_set_controller.h"

#include <algorithm>
#include <utility>

#include "api/views/pod_view.h"
#include "controllers/common/adoption.h"
#include "controllers/common/pod_facts.h"
#include "controllers/common/pod_template.h"
#include "controllers/replicaset/replica_set_status.h"

namespace muster::controllers {
namespace {

using api::ObjectPtr;
using api::ReplicaSetView;

// How many pods are made or deleted in one look.
constexpr std::int64_t kPodChangesMax = 500;
// What the pods of a large set do is collected for a moment: a look costs as much as it has pods.
constexpr std::size_t kLarge = 64;
constexpr Duration kBatchPeriod = std::chrono::milliseconds{100};

const api::Kind& set_kind() {
  static const api::Kind& kKind = apps_kind("ReplicaSet");
  return kKind;
}

bool is_set(const api::OwnerReference& owner) {
  return owner.kind == "ReplicaSet" && group_of(owner.api_version) == "apps";
}

void index_set(const api::Object& set, std::vector<std::string>& out) {
  const auto& view = set.view<ReplicaSetView>();
  if (view.selector) index_selector(set.meta().name_space, *view.selector, out);
}

// Pods that have ended are not adopted.
void index_pod(const api::Object& pod, std::vector<std::string>& out) {
  if (!pod.view<api::PodView>().is_terminal()) index_free(pod, out);
}

}  // namespace

ReplicaSetController::ReplicaSetController(client::ComponentContext context)
    : PodController("replicaset", std::move(context),
                    {{.kind = &set_kind(),
                      .mirror = &sets_,
                      .keys_of = [this](const Change& change) { return showed_itself(change); }},
                     {.kind = &api::kinds::pod(),
                      .mirror = &pods_,
                      .keys_of = [this](const Change& change) { return on_pod(change); },
                      .only =
                          [](const api::Object& pod) {
                            const api::OwnerReference* owner = controller_of(pod);
                            return owner == nullptr || is_set(*owner);
                          }}}),
      sets_({.owners = true, .own = index_set}),
      pods_({.owners = true, .own = index_pod}) {}

ReplicaSetController::Keys ReplicaSetController::on_pod(const Change& change) {
  for (const ObjectPtr& version : {change.before, change.after}) {
    const ObjectPtr set = version == nullptr ? nullptr : controller_in(sets_, *version);
    if (set == nullptr) continue;
    const std::string key = api::key_text(set->meta());
    showed(key, change);
    const bool large = pods_.owned_by(set->meta().uid).size() > kLarge;
    work().add_at(large ? change.at + kBatchPeriod : change.at, key);
  }
  return free_key(sets_, change.after);
}

void ReplicaSetController::reconcile(const std::string& key, Time now) {
  if (looks_for_owners<ReplicaSetView>(sets_, pods_, key, now)) return;
  const ObjectPtr set = begin_look_at(sets_, memory_, key);
  if (set == nullptr || waits(key, now) || !set->view<ReplicaSetView>().selector) return;
  const Claim claim = find_claim(pods_, *set, *set->view<ReplicaSetView>().selector);
  if (adopt_and_release(key, *set, claim)) return;
  const Pods& pods = claim.owned;
  Memory& memory = memory_[key];
  if (memory.tried && !memory.failed) memory.failure.reset();
  Pods active;
  std::ranges::copy_if(pods, std::back_inserter(active),
                       [](const ObjectPtr& pod) { return is_active(*pod); });
  if (std::ssize(active) == set->view<ReplicaSetView>().replicas) {
    memory.failure.reset();
    memory.tried = true;
  }
  write_status(key, set, pods, now);
  if (!set->meta().deletion_time) change_pods(key, set, active, now);
}

void ReplicaSetController::change_pods(const std::string& key, const ObjectPtr& set,
                                       const Pods& active, Time now) {
  const std::int64_t missing = set->view<ReplicaSetView>().replicas - std::ssize(active);
  if (missing == 0) return;
  Memory& memory = memory_[key];
  memory.tried = true;
  memory.failed = false;
  const auto count = static_cast<std::size_t>(std::min(std::abs(missing), kPodChangesMax));
  if (missing > 0) {
    PodBatch batch{
        .key = key,
        .owner = set,
        .count = count,
        .start_making =
            [set] {
              return [pod = api::Json(pod_from_template(*set))](std::size_t) { return pod; };
            },
        .on_each = [this, key](const client::Outcome& outcome,
                               Time at) { on_changed(key, "FailedCreate", outcome, at); }};
    return create_pods(std::move(batch));
  }
  for (const ObjectPtr& pod : choose_for_removal(
           {.pods = active, .related = related_pods(*set, active), .count = count, .now = now}))
    delete_pod(key, set, pod, [this, key](const client::Outcome& outcome, Time at) {
      on_changed(key, "FailedDelete", outcome, at);
    });
}

ReplicaSetController::Pods ReplicaSetController::related_pods(const api::Object& set,
                                                              const Pods& active) const {
  const api::OwnerReference* owner = controller_of(set);
  if (owner == nullptr) return active;
  Pods out;
  for (const auto* sibling : sets_.owned_by(owner->uid))
    for (const auto* entry : pods_.owned_by(sibling->object->meta().uid))
      if (is_active(*entry->object)) out.push_back(entry->object);
  return out;
}

// A failure is said at once: the next look comes after a pause.
void ReplicaSetController::on_changed(const std::string& key, std::string_view reason,
                                      const client::Outcome& outcome, Time now) {
  if (outcome || is_name_space_ending(outcome.error()) ||
      (reason == "FailedDelete" && outcome.error().reason == Reason::NotFound))
    return;
  const auto at = memory_.find(key);
  if (at == memory_.end()) return;
  at->second.failed = true;
  if (at->second.failure) return;
  at->second.failure = {"ReplicaFailure", "True", std::string(reason), outcome.error().message, 0};
  const auto [name_space, name] = client::split_key(key);
  const ObjectPtr set = sets_.find(name_space, name);
  if (set == nullptr || !set->view<ReplicaSetView>().selector) return;
  write_status(key, set, find_claim(pods_, *set, *set->view<ReplicaSetView>().selector).owned, now);
}

void ReplicaSetController::write_status(const std::string& key, const ObjectPtr& set,
                                        const Pods& pods, Time now) {
  const Memory& memory = memory_[key];
  std::optional<api::Condition> failure = memory.failure;
  // What was said before the start holds until it is known better.
  if (!memory.tried && set->view<ReplicaSetView>().failure)
    failure = *set->view<ReplicaSetView>().failure;
  const ReplicaSetStatus status = replica_set_status(*set, pods, failure, now);
  if (status.again) work().add_at(*status.again, key);
  if (auto request = replica_set_status_request(*set, status, now))
    write_call(key, *std::move(request));
}

}  // namespace muster::controllers
