#include "explain/situation.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "api/kinds/kind.h"
#include "api/views/pod_view.h"
#include "base/check.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/groups/group_spec.h"
#include "scheduler/queue/scheduling_queue.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using scheduler::GroupKey;
using scheduler::GroupKind;
using scheduler::Membership;

const api::PodView& view_of(const ObjectPtr& pod) { return pod->view<api::PodView>(); }
bool is_terminating(const ObjectPtr& object) { return object->meta().deletion_time.has_value(); }
bool holds_node(const ObjectPtr& pod) {
  return !view_of(pod).node_name.empty() && !view_of(pod).is_terminal();
}

// The order of the queue, for pods that were never tried.
bool comes_first(const ObjectPtr& a, const ObjectPtr& b) {
  if (view_of(a).priority != view_of(b).priority) return view_of(a).priority > view_of(b).priority;
  return std::tie(a->meta().creation_time, a->meta().name_space, a->meta().name) <
         std::tie(b->meta().creation_time, b->meta().name_space, b->meta().name);
}

}  // namespace

std::optional<GroupKey> leaf_of(const api::Object& pod) {
  const std::string& group = pod.view<api::PodView>().scheduling_group;
  if (group.empty()) return std::nullopt;
  return GroupKey{GroupKind::PodGroup, pod.meta().name_space, group};
}

Situation::Situation(const Objects& objects, scheduler::Profile profile)
    : profile_(std::move(profile)) {
  for (const ObjectPtr& node : objects.nodes) put(node);
  for (const ObjectPtr& group : objects.groups) put(group);
  // In the order of the lists they go to, so that each is appended there.
  std::vector<ObjectPtr> pods = objects.pods;
  std::ranges::sort(pods, comes_first);
  for (const ObjectPtr& pod : pods) put(pod);
  find_faults(objects);
}

void Situation::apply(const Edits& edits) {
  for (const Edit& edit : edits) {
    if (edit.before != nullptr) take(edit.before);
    if (edit.after != nullptr) put(edit.after);
  }
}

void Situation::revert(const Edits& edits) {
  for (const Edit& edit : edits) {
    if (edit.after != nullptr) take(edit.after);
    if (edit.before != nullptr) put(edit.before);
  }
}

void Situation::put(const ObjectPtr& object) {
  if (&object->kind() == &api::kinds::node()) {
    nodes_[object->meta().name] = object;
    cluster_.set_node(object);
  } else if (&object->kind() == &api::kinds::pod()) {
    put_pod(object);
  } else {
    put_group(object);
  }
}

void Situation::take(const ObjectPtr& object) {
  if (&object->kind() == &api::kinds::node()) {
    nodes_.erase(object->meta().name);
    cluster_.remove_node(object->meta().name);
  } else if (&object->kind() == &api::kinds::pod()) {
    take_pod(object);
  } else {
    take_group(object);
  }
}

// --- pods ---

std::optional<Membership> Situation::membership_of(const ObjectPtr& pod) const {
  const api::PodView& view = view_of(pod);
  if (is_terminating(pod) || view.phase == "Failed") return std::nullopt;
  if (holds_node(pod) || view.phase == "Succeeded") return Membership::Present;
  return profile_.pre_enqueue(*pod) ? Membership::Gated : Membership::Waiting;
}

std::vector<ObjectPtr>* Situation::list_of(const ObjectPtr& pod) {
  const std::optional<Membership> part = membership_of(pod);
  const std::optional<GroupKey> leaf = leaf_of(*pod);
  if (!leaf) return part == Membership::Waiting ? &lone_waiting_ : nullptr;
  Members& members = members_[*leaf];
  if (!part) return &members.lost;
  switch (*part) {
    case Membership::Waiting: return &members.waiting;
    case Membership::Gated: return &members.gated;
    case Membership::Present: break;
  }
  return view_of(pod).phase == "Succeeded" ? &members.succeeded : &members.running;
}

void Situation::put_pod(const ObjectPtr& pod) {
  if (holds_node(pod)) running_[api::key_text(pod->meta())] = pod;
  if (holds_node(pod) || view_of(pod).is_terminal()) cluster_.set_pod(pod);
  if (std::vector<ObjectPtr>* list = list_of(pod))
    list->insert(std::ranges::upper_bound(*list, pod, comes_first), pod);
  const std::optional<GroupKey> leaf = leaf_of(*pod);
  if (const auto part = membership_of(pod); leaf && part) forest_.count_member(*leaf, *part, +1);
}

void Situation::take_pod(const ObjectPtr& pod) {
  running_.erase(api::key_text(pod->meta()));
  cluster_.remove_pod(pod->meta().uid);
  if (std::vector<ObjectPtr>* list = list_of(pod)) CHECK(std::erase(*list, pod) == 1);
  const std::optional<GroupKey> leaf = leaf_of(*pod);
  if (const auto part = membership_of(pod); leaf && part) forest_.count_member(*leaf, *part, -1);
}

const Members& Situation::members(const GroupKey& leaf) const {
  static const Members kNone;
  const auto at = members_.find(leaf);
  return at == members_.end() ? kNone : at->second;
}

// --- groups ---

void Situation::put_group(const ObjectPtr& object) {
  std::optional<scheduler::GroupSpec> group = scheduler::read_group(object, {});
  if (!group) return;
  if (!group->parent.empty()) {
    std::vector<GroupKey>& siblings =
        children_[{GroupKind::CompositePodGroup, group->key.name_space, group->parent}];
    siblings.push_back(group->key);
  }
  const std::string parent = group->parent;
  const GroupKey key = group->key;
  forest_.set(std::move(*group));
  if (parent.empty()) return;
  std::ranges::sort(children_[{GroupKind::CompositePodGroup, key.name_space, parent}],
                    [&](const GroupKey& a, const GroupKey& b) {
                      return std::tuple(forest_.find(a)->created, a.name, a.kind) <
                             std::tuple(forest_.find(b)->created, b.name, b.kind);
                    });
}

void Situation::take_group(const ObjectPtr& object) {
  const std::optional<scheduler::GroupSpec> group = scheduler::read_group(object, {});
  if (!group) return;
  if (!group->parent.empty())
    std::erase(children_[{GroupKind::CompositePodGroup, group->key.name_space, group->parent}],
               group->key);
  forest_.erase(group->key);
}

void Situation::find_faults(const Objects& objects) {
  for (const ObjectPtr& workload : objects.workloads)
    faults_.set_workload(workload->meta().name_space, workload->meta().name,
                         scheduler::WorkloadShape::read(*workload));
  std::set<GroupKey> anchors;
  for (const ObjectPtr& object : objects.groups)
    if (const auto group = scheduler::read_group(object, {}))
      if (const auto anchor = forest_.anchor_of(group->key)) anchors.insert(*anchor);
  for (const GroupKey& anchor : anchors) {
    faults_.look_again(anchor);
    const scheduler::GroupSpec* root = forest_.root_of(anchor);
    if (root != nullptr && is_compared(*root, objects.read_at)) faults_.compare(anchor);
  }
}

// By now the queue has compared the tree with its Workload: it has waited for long and was never
// scheduled.
bool Situation::is_compared(const scheduler::GroupSpec& root, Time now) const {
  if (!forest_.has_pending(root.key) || scheduler::was_scheduled(root)) return false;
  Time since = now;
  forest_.each_leaf(root.key, [&](const GroupKey& leaf) {
    for (const auto* pods : {&members(leaf).waiting, &members(leaf).gated})
      for (const ObjectPtr& pod : *pods)
        since = std::min(since, pod->meta().creation_time.value_or(now));
  });
  return since + scheduler::QueueOptions{}.compare_patience <= now;
}

const std::vector<GroupKey>& Situation::children(const GroupKey& composite) const {
  static const std::vector<GroupKey> kNone;
  const auto at = children_.find(composite);
  return at == children_.end() ? kNone : at->second;
}

std::vector<GroupKey> Situation::roots() const {
  std::vector<GroupKey> roots;
  for (const auto& [leaf, members] : members_)
    if (const scheduler::GroupSpec* root = forest_.root_of(leaf)) roots.push_back(root->key);
  std::ranges::sort(roots);
  roots.erase(std::ranges::unique(roots).begin(), roots.end());
  return roots;
}

const api::Object* Situation::node(const std::string& name) const {
  const auto at = nodes_.find(name);
  return at == nodes_.end() ? nullptr : at->second.get();
}

std::vector<ObjectPtr> Situation::nodes() const {
  std::vector<ObjectPtr> nodes;
  for (const auto& [name, node] : nodes_) nodes.push_back(node);
  return nodes;
}

std::vector<ObjectPtr> Situation::running() const {
  std::vector<ObjectPtr> pods;
  for (const auto& [name, pod] : running_) pods.push_back(pod);
  return pods;
}

// --- attempts ---

scheduler::Plan Situation::attempt(const GroupKey& root) {
  const scheduler::Group tree =
      forest_.build(root, [&](const GroupKey& leaf, std::vector<scheduler::PendingPod>& pods) {
        for (const ObjectPtr& pod : members(leaf).waiting)
          pods.push_back(
              {.pod = pod, .attempts = 0, .queued_at = pod->meta().creation_time.value_or(Time{})});
      });
  return scheduler::attempt_group(tree, cluster_, profile_);
}

scheduler::Plan Situation::attempt(const ObjectPtr& lone_pod) {
  return scheduler::attempt_pod({.pod = lone_pod,
                                 .attempts = 0,
                                 .queued_at = lone_pod->meta().creation_time.value_or(Time{})},
                                cluster_, profile_);
}

}  // namespace muster::explain
