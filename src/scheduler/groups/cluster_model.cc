#include "scheduler/groups/cluster_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/kinds/kind.h"
#include "api/views/group_view.h"
#include "api/views/pod_facts.h"
#include "base/check.h"
#include "scheduler/groups/group_spec.h"

namespace muster::scheduler {
namespace {

using api::holds_node;
using api::is_terminating;
using api::ObjectPtr;
using api::view_of;

// What a role counts for in the quorum of a leaf; nullopt: nothing.
std::optional<Membership> membership_of(PodRole role) {
  switch (role) {
    case PodRole::Waiting: return Membership::Waiting;
    case PodRole::Gated: return Membership::Gated;
    case PodRole::Running:
    case PodRole::Succeeded: return Membership::Present;
    case PodRole::Foreign:
    case PodRole::Lost: break;
  }
  return std::nullopt;
}

bool is_budget(const api::Kind& kind) {
  return kind.kind == "PodDisruptionBudget" && kind.group == "policy";
}

bool has_class_of(const GroupSpec& a, const GroupSpec& b) {
  return a.object->view<api::GroupView>().priority_class ==
         b.object->view<api::GroupView>().priority_class;
}

}  // namespace

ClusterModel::ClusterModel(Profiles profiles, ModelOptions options)
    : profiles_(std::move(profiles)), options_(options), faults_(forest_, options.judged_at_once) {
  std::set<std::string> keys;
  for (const Profiles::Named& named : profiles_.all()) {
    const auto& own = named.profile.settings().default_spread_keys;
    keys.insert(own.begin(), own.end());
    for (const std::string& label : named.profile.settings().node_labels)
      cluster_.watch_label(label);
  }
  cluster_.set_default_spread_keys({keys.begin(), keys.end()});
}

ClusterModel::ClusterModel(const ClusterModel& other)
    : profiles_(other.profiles_),
      options_(other.options_),
      cluster_(other.cluster_.fork()),
      forest_(other.forest_),
      faults_(other.faults_, forest_),
      traits_(other.traits_),
      nominations_(other.nominations_, cluster_),
      budgets_(other.budgets_),
      slots_(other.slots_),
      free_slots_(other.free_slots_),
      slot_by_name_(other.slot_by_name_),  // its keys are views into objects, which are shared
      leaves_(other.leaves_),
      lone_(other.lone_) {}

std::unique_ptr<ClusterModel> ClusterModel::fork() const {
  return std::unique_ptr<ClusterModel>(new ClusterModel(*this));
}

void ClusterModel::put(const ObjectPtr& object) {
  const api::Kind& kind = object->kind();
  if (&kind == &api::kinds::pod())
    put_pod(object);
  else if (&kind == &api::kinds::node())
    put_node(object);
  else if (&kind == &api::kinds::name_space())
    put_namespace(object);
  else if (&kind == &api::kinds::workload())
    set_workload(*object, false);
  else if (is_budget(kind))
    budgets_.put(object);
  else if (VolumeBook::keeps(kind))
    volume_changed({.before = cluster_.put_volume_object(object), .after = object});
  else if (SelectorBook::keeps(kind))
    cluster_.put_selector(*object);
  else
    put_group(object);
}

void ClusterModel::remove(const api::Object& object) {
  const api::Kind& kind = object.kind();
  if (&kind == &api::kinds::pod())
    remove_pod(object);
  else if (&kind == &api::kinds::node())
    remove_node(object);
  else if (&kind == &api::kinds::name_space())
    remove_namespace(object);
  else if (&kind == &api::kinds::workload())
    set_workload(object, true);
  else if (is_budget(kind))
    budgets_.remove(object);
  else if (VolumeBook::keeps(kind))
    volume_changed({.before = cluster_.remove_volume_object(object), .after = nullptr});
  else if (SelectorBook::keeps(kind))
    cluster_.remove_selector(object);
  else
    remove_group(object);
}

void ClusterModel::volume_changed(const VolumeChange& change) {
  if (listener_ != nullptr && (change.before != nullptr || change.after != nullptr))
    listener_->on_volume(change);
}

// --- nodes ---

void ClusterModel::put_node(const ObjectPtr& object) {
  const NodeChange change{.before = node(object->meta().name), .after = object};
  cluster_.set_node(object);
  if (listener_ != nullptr) listener_->on_node(change);
}

void ClusterModel::remove_node(const api::Object& object) {
  const NodeChange change{.before = node(object.meta().name), .after = nullptr};
  if (change.before == nullptr) return;
  cluster_.remove_node(object.meta().name);
  if (listener_ != nullptr) listener_->on_node(change);
}

void ClusterModel::put_namespace(const ObjectPtr& object) {
  if (!cluster_.set_namespace(*object) || listener_ == nullptr) return;
  listener_->on_namespace({.before = nullptr, .after = object});
}

void ClusterModel::remove_namespace(const api::Object& object) {
  cluster_.remove_namespace(object.meta().name);  // nothing can wait in it
}

// --- pods ---

std::optional<GroupKey> ClusterModel::leaf_of(const api::Object& pod) const {
  const std::string& group = pod.view<api::PodView>().scheduling_group;
  if (group.empty() || !options_.gates.on(api::Gate::GenericWorkload)) return std::nullopt;
  return GroupKey{GroupKind::PodGroup, pod.meta().name_space, group};
}

PodRole ClusterModel::role_of(const ObjectPtr& pod) const {
  const api::PodView& view = view_of(pod);
  if (is_terminating(pod) || view.phase == "Failed") return PodRole::Lost;
  if (view.phase == "Succeeded") return PodRole::Succeeded;
  if (!view.node_name.empty() || cluster_.is_assumed(pod->meta().uid)) return PodRole::Running;
  const Profile* profile = profiles_.find(view.scheduler_name);
  if (profile == nullptr) return PodRole::Foreign;
  return profile->pre_enqueue(*pod) ? PodRole::Gated : PodRole::Waiting;
}

// The name has changed hands, behind a gap in the watch, or the pod its group, which no API server
// allows.
bool ClusterModel::is_same_member(const api::Object& known, const api::Object& pod) const {
  return known.meta().uid == pod.meta().uid && leaf_of(known) == leaf_of(pod);
}

void ClusterModel::put_pod(const ObjectPtr& pod) {
  const api::ObjectMeta& meta = pod->meta();
  auto at = slot_by_name_.find(Name{meta.name_space, meta.name});
  if (at != slot_by_name_.end() && !is_same_member(*slots_[at->second].pod, *pod)) {
    const ObjectPtr replaced = slots_[at->second].pod;
    remove_pod(*replaced);
    at = slot_by_name_.end();
  }
  PodChange change{.before = nullptr,
                   .after = pod,
                   .leaf = leaf_of(*pod),
                   .role_before = std::nullopt,
                   .role_after = std::nullopt,
                   .assumed_on = cluster_.assumed_node(meta.uid)};
  SlotId id = 0;
  if (at == slot_by_name_.end()) {
    id = new_slot();
  } else {
    id = at->second;
    change.before = slots_[id].pod;
    change.role_before = slots_[id].role;
    slot_by_name_.erase(at);  // its key is a view into the object that is replaced
  }
  slots_[id].pod = pod;
  slot_by_name_.emplace(Name{meta.name_space, meta.name}, id);
  const bool asks_otherwise = traits_.change(change.before.get(), pod.get());
  count_claims(change.before, pod);
  count_on_node(change.before, pod);
  const PodRole role = role_of(pod);
  if (change.role_before)
    set_role(id, role);
  else
    enter_role(id, role);
  if (asks_otherwise && change.leaf) update_agreement(*change.leaf);
  change.role_after = role;
  if (role == PodRole::Waiting || role == PodRole::Gated)
    nominations_.observed(pod, view_of(pod).nominated_node);
  else
    nominations_.forget(meta.uid);
  if (listener_ != nullptr) listener_->on_pod(change);
}

// What the cluster counts: pods that hold a node, and finished members. An assumed pod stays
// counted until the API names its node, and gives it back when it terminates unbound.
void ClusterModel::count_on_node(const ObjectPtr& before, const ObjectPtr& pod) {
  const auto counts = [](const ObjectPtr& one) {
    return holds_node(one) || view_of(one).is_terminal();
  };
  if (counts(pod))
    cluster_.set_pod(pod);
  else if (is_terminating(pod) || (before != nullptr && counts(before)))
    cluster_.remove_pod(pod->meta().uid);
}

void ClusterModel::remove_pod(const api::Object& pod) {
  const auto at = slot_by_name_.find(Name{pod.meta().name_space, pod.meta().name});
  if (at == slot_by_name_.end()) return;
  const SlotId id = at->second;
  slot_by_name_.erase(at);
  const ObjectPtr known = slots_[id].pod;
  const std::string& uid = known->meta().uid;
  const PodChange change{.before = known,
                         .after = nullptr,
                         .leaf = leaf_of(*known),
                         .role_before = slots_[id].role,
                         .role_after = std::nullopt,
                         .assumed_on = cluster_.assumed_node(uid)};
  const bool asks_otherwise = traits_.change(known.get(), nullptr);
  count_claims(known, nullptr);
  cluster_.remove_pod(uid);
  nominations_.forget(uid);
  leave_role(id);
  if (asks_otherwise && change.leaf) update_agreement(*change.leaf);
  slots_[id].pod = nullptr;
  free_slots_.push_back(id);
  if (listener_ != nullptr) listener_->on_pod(change);
}

// Every pod that names a claim shares it, whether it has a node or not.
void ClusterModel::count_claims(const ObjectPtr& before, const ObjectPtr& after) {
  const auto names_claims = [](const ObjectPtr& pod) {
    return pod != nullptr && !view_of(pod).claims.empty() && !view_of(pod).is_terminal();
  };
  if (names_claims(before)) cluster_.count_claim_users(*before, -1);
  if (names_claims(after)) cluster_.count_claim_users(*after, 1);
}

void ClusterModel::assume(const ObjectPtr& pod, std::string_view node) {
  const auto at = slot_by_name_.find(Name{pod->meta().name_space, pod->meta().name});
  CHECK(at != slot_by_name_.end() && slots_[at->second].pod->meta().uid == pod->meta().uid);
  nominations_.forget(pod->meta().uid);
  cluster_.assume(pod, node);
  set_role(at->second, PodRole::Running);
}

ObjectPtr ClusterModel::forget(const api::Object& pod) {
  cluster_.forget(pod.meta().uid);
  const auto at = slot_by_name_.find(Name{pod.meta().name_space, pod.meta().name});
  if (at == slot_by_name_.end()) return nullptr;
  const ObjectPtr newest = slots_[at->second].pod;
  if (newest->meta().uid != pod.meta().uid) return nullptr;
  const PodRole role = role_of(newest);
  set_role(at->second, role);
  if (role == PodRole::Waiting || role == PodRole::Gated)
    nominations_.observed(newest, view_of(newest).nominated_node);
  return role == PodRole::Waiting || role == PodRole::Gated ? newest : nullptr;
}

// --- roles ---

ClusterModel::SlotId ClusterModel::new_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<SlotId>(slots_.size() - 1);
  }
  const SlotId id = free_slots_.back();
  free_slots_.pop_back();
  return id;
}

ClusterModel::Roles& ClusterModel::roles_of(const std::optional<GroupKey>& leaf) {
  return leaf ? leaves_[*leaf] : lone_;
}

void ClusterModel::set_role(SlotId id, PodRole role) {
  if (slots_[id].role == role) return;
  // Counted in the new role first: a leaf that only this member names must not go and come back.
  const std::optional<GroupKey> leaf = leaf_of(*slots_[id].pod);
  const std::optional<Membership> after = membership_of(role);
  const std::optional<Membership> before = membership_of(slots_[id].role);
  Roles& roles = roles_of(leaf);
  std::vector<SlotId>& from = roles[static_cast<std::size_t>(slots_[id].role)];
  const std::uint32_t hole = slots_[id].position;
  from[hole] = from.back();
  slots_[from[hole]].position = hole;
  from.pop_back();
  std::vector<SlotId>& to = roles[static_cast<std::size_t>(role)];
  slots_[id].role = role;
  slots_[id].position = static_cast<std::uint32_t>(to.size());
  to.push_back(id);
  if (!leaf || before == after) return;
  if (after) forest_.count_member(*leaf, *after, +1);
  if (before) forest_.count_member(*leaf, *before, -1);
}

void ClusterModel::enter_role(SlotId id, PodRole role) {
  const std::optional<GroupKey> leaf = leaf_of(*slots_[id].pod);
  std::vector<SlotId>& list = roles_of(leaf)[static_cast<std::size_t>(role)];
  slots_[id].role = role;
  slots_[id].position = static_cast<std::uint32_t>(list.size());
  list.push_back(id);
  if (const auto counted = membership_of(role); leaf && counted)
    forest_.count_member(*leaf, *counted, +1);
}

void ClusterModel::leave_role(SlotId id) {
  const std::optional<GroupKey> leaf = leaf_of(*slots_[id].pod);
  Roles& roles = roles_of(leaf);
  std::vector<SlotId>& list = roles[static_cast<std::size_t>(slots_[id].role)];
  const std::uint32_t hole = slots_[id].position;
  list[hole] = list.back();
  slots_[list[hole]].position = hole;
  list.pop_back();
  if (const auto counted = membership_of(slots_[id].role); leaf && counted)
    forest_.count_member(*leaf, *counted, -1);
  if (leaf && std::ranges::all_of(roles, [](const auto& slots) { return slots.empty(); }))
    leaves_.erase(*leaf);
}

// --- groups ---

void ClusterModel::put_group(const ObjectPtr& object) {
  std::optional<GroupSpec> group = read_group(object, options_.gates);
  if (!group) return;
  if (options_.gates.on(api::Gate::TopologyAwareWorkloadScheduling))
    group->placements = profiles_.placements_of(*group);
  GroupChange change;
  change.object = object;
  change.key = group->key;
  const GroupSpec* known = forest_.find(group->key);
  change.schedules_alike = known != nullptr && schedules_alike(*known, *group);
  change.is_relinked = known == nullptr || known->parent != group->parent;
  change.requeues_pods = change.is_relinked || known->priority != group->priority ||
                         known->has_topology() != group->has_topology() ||
                         known->never_preempts != group->never_preempts;
  const bool is_judged = change.is_relinked || known->priority != group->priority ||
                         known->workload != group->workload || !has_class_of(*known, *group) ||
                         known->template_name != group->template_name ||
                         known->malformed != group->malformed;
  if (const GroupSpec* root = forest_.root_of(group->key)) change.root_then = root->key;
  forest_.set(std::move(*group));
  update_agreement(change.key);
  if (is_judged) change.judged = faults_.look_again(change.key);
  if (listener_ != nullptr) listener_->on_group(change);
}

// With the leaf, that is: where a leaf itself differs from its root, the tree is at fault.
void ClusterModel::update_agreement(const GroupKey& leaf) {
  if (const GroupSpec* group = forest_.find(leaf))
    forest_.set_disagreement(leaf, !traits_.agree(leaf, *group));
}

void ClusterModel::remove_group(const api::Object& object) {
  const std::optional<GroupKey> key = group_key(object);
  if (!key || forest_.find(*key) == nullptr) return;
  GroupChange change;
  change.object = forest_.find(*key)->object;
  change.key = *key;
  change.is_gone = true;
  change.is_relinked = true;
  change.requeues_pods = true;
  if (const GroupSpec* root = forest_.root_of(*key)) change.root_then = root->key;
  forest_.erase(*key);
  change.judged = faults_.look_again(*key);
  if (listener_ != nullptr) listener_->on_group(change);
}

void ClusterModel::set_workload(const api::Object& object, bool is_gone) {
  if (!options_.gates.on(api::Gate::GenericWorkload)) return;
  std::optional<WorkloadTemplates> templates;
  if (!is_gone) templates = WorkloadTemplates::read(object);
  const TreeFaults::Anchors judged =
      faults_.set_workload(object.meta().name_space, object.meta().name, std::move(templates));
  if (listener_ != nullptr) listener_->on_workload(judged);
}

}  // namespace muster::scheduler
