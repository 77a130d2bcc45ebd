#include "scheduler/intake.h"

#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/views/node_view.h"
#include "api/views/pod_facts.h"
#include "scheduler/queue/changes.h"

namespace muster::scheduler {
namespace {

using api::holds_node;
using api::is_terminating;
using api::ObjectPtr;
using api::view_of;

void mix(std::uint64_t& hash, std::string_view text) {
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  hash = (hash ^ 0xffU) * 0x100000001b3U;
}

// Equal for pods that no event tells apart: made from their class, their profile, whether they may
// evict others, and the claims they name.
std::uint64_t class_hash_of(Cluster& cluster, const ObjectPtr& pod) {
  std::uint64_t hash = cluster.class_hash(*pod);
  mix(hash, view_of(pod).scheduler_name);
  if (view_of(pod).never_preempts) mix(hash, "Never");
  if (!view_of(pod).claims.empty()) mix(hash, pod->meta().name_space);
  for (const api::PodClaim& claim : view_of(pod).claims) mix(hash, api::claim_name(*pod, claim));
  return hash == 0 ? 1 : hash;
}

std::optional<Resource> volume_resource(const api::Kind& kind) {
  if (&kind == &api::kinds::persistent_volume()) return Resource::PersistentVolume;
  if (&kind == &api::kinds::persistent_volume_claim()) return Resource::PersistentVolumeClaim;
  if (&kind == &api::kinds::storage_class()) return Resource::StorageClass;
  if (&kind == &api::kinds::csi_node()) return Resource::CSINode;
  if (&kind == &api::kinds::csi_driver()) return Resource::CSIDriver;
  if (&kind == &api::kinds::csi_storage_capacity()) return Resource::CSIStorageCapacity;
  if (&kind == &api::kinds::volume_attachment()) return Resource::VolumeAttachment;
  return std::nullopt;
}

bool is_present(std::optional<PodRole> role) {
  return role == PodRole::Running || role == PodRole::Succeeded;
}

// The pod with the node that it held until now, by the API or assumed; null if it held none.
ObjectPtr held_before(const PodChange& change) {
  const ObjectPtr& pod = change.before != nullptr ? change.before : change.after;
  if (holds_node(pod)) return pod;
  return change.assumed_on.empty() ? nullptr : pod_on(pod, change.assumed_on);
}

}  // namespace

Intake::Intake(ClusterModel& model, SchedulingQueue& queue, Commit& commit, Report& report)
    : model_(model), queue_(queue), commit_(commit), report_(report) {
  model_.set_listener(this);
}

Intake::~Intake() { model_.set_listener(nullptr); }

void Intake::apply(const client::Event& event, Time now) {
  now_ = now;
  // Pods and nodes show in the node table.
  const api::Kind& kind = event.object->kind();
  if (&kind != &api::kinds::pod() && &kind != &api::kinds::node())
    commit_.preemptions().promises_changed();
  if (event.type == client::Event::Type::Deleted)
    model_.remove(*event.object);
  else
    model_.put(event.object);
}

// --- Pods ---

void Intake::on_pod(const PodChange& change) {
  const ObjectPtr& pod = change.after;
  if (pod == nullptr) return pod_gone(change);
  report_.observed(pod->meta().uid);
  if (view_of(pod).is_terminal())
    pod_finished(change);
  else if (holds_node(pod))
    pod_assigned(change);
  else if (model_.serves(*pod))
    pod_waits(change);
}

void Intake::pod_waits(const PodChange& change) {
  const ObjectPtr& pod = change.after;
  if (is_terminating(pod)) return waiting_pod_terminates(change);
  if (change.leaf && !queue_.knows(pod->meta().uid) && model_.fault(*change.leaf) != nullptr)
    report_.joined_invalid(pod);
  QueuePod facts{.pod = pod,
                 .priority = view_of(pod).priority,
                 .group = change.leaf,
                 .gated = change.role_after == PodRole::Gated,
                 .class_hash = class_hash_of(model_.cluster(), pod)};
  if (change.leaf) report_.waits_in_tree(*change.leaf, *pod);
  std::vector<ClusterEvent> changes;
  if (change.before != nullptr) changes = pod_changes(change.before, pod, Resource::TargetPod);
  queue_.set_pod(std::move(facts), changes, now_);
  if (change.before != nullptr && change.assumed_on.empty() &&
      view_of(change.before).nominated_node != view_of(pod).nominated_node)
    release_nomination(change.before);
}

void Intake::waiting_pod_terminates(const PodChange& change) {
  const ObjectPtr& pod = change.after;
  const std::string& uid = pod->meta().uid;
  commit_.cancel(uid, now_);
  report_.forget(uid);
  const bool was_queued = queue_.knows(uid);
  queue_.remove_pod(uid, now_);
  if (const ObjectPtr held = held_before(change)) {
    queue_.wake(room_made(held), now_);
  } else if (was_queued) {
    report_.deleted_in_queue(pod, now_);
    release_nomination(pod);
  }
}

void Intake::pod_assigned(const PodChange& change) {
  const ObjectPtr& pod = change.after;
  const std::string& uid = pod->meta().uid;
  const std::string& node = view_of(pod).node_name;
  stop_waiting(change);
  commit_.pod_seen(pod, now_);
  if (change.before != nullptr && holds_node(change.before)) {
    report_.assigned(pod);
    for (const ClusterEvent& event : pod_changes(change.before, pod, Resource::AssignedPod))
      queue_.wake(event, now_);
    return;
  }
  commit_.confirm(uid, node, now_);
  if (change.assumed_on != node) commit_.bound_by_others(*pod, node, now_);
  report_.forget(uid);
  report_.assigned(pod);
  queue_.wake({Resource::AssignedPod, Action::Add, nullptr, pod}, now_);
  // Somebody else bound it: the room that we had given it is free again.
  if (!change.assumed_on.empty() && change.assumed_on != node)
    queue_.wake(room_made(held_before(change)), now_);
}

void Intake::pod_finished(const PodChange& change) {
  const std::string& uid = change.after->meta().uid;
  commit_.cancel(uid, now_);
  report_.forget(uid);
  stop_waiting(change);
  if (const ObjectPtr held = held_before(change)) leave_node(held);
}

void Intake::pod_gone(const PodChange& change) {
  const std::string& uid = change.before->meta().uid;
  commit_.cancel(uid, now_);
  report_.forget(uid);
  stop_waiting(change);
  if (const ObjectPtr held = held_before(change))
    leave_node(held);
  else
    release_nomination(change.before);
}

void Intake::leave_node(const ObjectPtr& pod) {
  commit_.left_node(view_of(pod).node_name, now_);
  queue_.wake(room_made(pod), now_);
}

// The pod is not for the queue any more. Its tree hears of it, also if it had a node before:
// members that run pin their group to a domain, and less is missing to the minimum with each.
void Intake::stop_waiting(const PodChange& change) {
  const std::string& uid = (change.after != nullptr ? change.after : change.before)->meta().uid;
  if (queue_.knows(uid)) return queue_.remove_pod(uid, now_);
  if (change.leaf && is_present(change.role_before) != is_present(change.role_after))
    queue_.members_changed(*change.leaf, true, now_);
}

// A pod gave up the node it was promised: room for those that had to leave it alone.
void Intake::release_nomination(const ObjectPtr& pod) {
  const api::PodView& view = view_of(pod);
  if (view.nominated_node.empty() || !model_.serves(*pod)) return;
  queue_.wake(room_made(pod), now_, view.priority);
}

// --- Nodes and groups ---

void Intake::on_node(const NodeChange& change) {
  const auto& [before, after] = change;
  if (after == nullptr) {
    queue_.wake({Resource::Node, Action::Delete, before, nullptr}, now_);
    return commit_.node_vanished(before->meta().name, now_);
  }
  if (before == nullptr || before->meta().uid != after->meta().uid) {
    commit_.node_changed(after->meta().name, now_);
    return queue_.wake({Resource::Node, Action::Add, nullptr, after}, now_);
  }
  const auto& had = before->view<api::NodeView>();
  const auto& has = after->view<api::NodeView>();
  if (had.allocatable != has.allocatable || had.allocatable_pods != has.allocatable_pods)
    commit_.node_changed(after->meta().name, now_);
  for (const ClusterEvent& event : node_changes(before, after)) queue_.wake(event, now_);
}

void Intake::on_namespace(const NamespaceChange& change) {
  queue_.wake({Resource::Namespace, Action::Add, change.before, change.after}, now_);
}

void Intake::on_group(const GroupChange& change) {
  if (change.is_gone) {
    report_.forget(change.object->meta().uid);
    report_.group_gone(change.key);
    commit_.group_vanished(change.key);
  } else {
    report_.observed_group(change.key, change.object->meta().uid);
    if (change.is_relinked) report_.joined_tree(change.key);
    commit_.preemptions().group_seen(now_);
  }
  queue_.group_changed(change, now_);
}

void Intake::on_volume(const VolumeChange& change) {
  const ObjectPtr& newest = change.after != nullptr ? change.after : change.before;
  const Action action = change.before == nullptr  ? Action::Add
                        : change.after == nullptr ? Action::Delete
                                                  : Action::Update;
  if (const std::optional<Resource> resource = volume_resource(newest->kind()))
    queue_.wake({*resource, action, change.before, change.after}, now_);
  commit_.volume_changed(*newest, now_);
}

void Intake::on_workload(const TreeFaults::Anchors& judged) { queue_.trees_judged(judged, now_); }

}  // namespace muster::scheduler
