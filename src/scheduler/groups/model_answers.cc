#include <algorithm>
#include <tuple>

#include "api/views/pod_facts.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/groups/group_spec.h"

// What a ClusterModel answers. Slots are in order of arrival, which must not show: lists are
// sorted when somebody asks, which is rare, instead of being kept sorted at every event's
// expense.
namespace muster::scheduler {
namespace {

using api::holds_node;
using api::ObjectPtr;
using api::view_of;

// So many groups and pods of a tree are asked about what all of them should agree on.
constexpr std::size_t kMembersAskedMax = 1'000;

// The order of the queue for pods that were never tried.
bool comes_first(const ObjectPtr& a, const ObjectPtr& b) {
  if (view_of(a).priority != view_of(b).priority) return view_of(a).priority > view_of(b).priority;
  return std::tie(a->meta().creation_time, a->meta().name_space, a->meta().name) <
         std::tie(b->meta().creation_time, b->meta().name_space, b->meta().name);
}

const api::Object* first_pod(const Group& group) {
  if (!group.pods.empty()) return group.pods.front().pod.get();
  for (const Group& child : group.children)
    if (const api::Object* pod = first_pod(child)) return pod;
  return nullptr;
}

}  // namespace

// --- profiles ---

bool ClusterModel::serves(const api::Object& pod) const {
  return profiles_.serves(pod.view<api::PodView>().scheduler_name);
}

const Profile& ClusterModel::profile_of(const api::Object& pod) const {
  const Profile* profile = profiles_.find(pod.view<api::PodView>().scheduler_name);
  return profile != nullptr ? *profile : profiles_.first().profile;
}

const std::string& ClusterModel::scheduler_name_of(const GroupKey& key) const {
  if (profiles_.all().size() == 1) return profiles_.first().scheduler_name;
  const Profiles::Named* named = nullptr;
  std::size_t left = kMembersAskedMax;
  ForestWalk walk(key, ForestWalk::Over::Busy);
  for (; left > 0 && named == nullptr; --left) {
    const GroupKey* group = forest_.next(walk);
    if (group == nullptr) break;
    if (group->kind != GroupKind::PodGroup) continue;
    for (const MemberTraits& traits : traits_.of(group->name_space, group->name))
      for (const Profiles::Named& own : profiles_.all())
        if (own.scheduler_name == traits.scheduler_name) named = &own;
  }
  return (named != nullptr ? *named : profiles_.first()).scheduler_name;
}

const Profile& ClusterModel::profile_of(const Group& root) const {
  const api::Object* pod = first_pod(root);
  return pod != nullptr ? profile_of(*pod) : profiles_.first().profile;
}

// --- the cluster ---

ObjectPtr ClusterModel::node(std::string_view name) const {
  NodeId id{};
  return cluster_.find_node(name, id) ? cluster_.node_object(id) : nullptr;
}

std::vector<ObjectPtr> ClusterModel::nodes() const {
  std::vector<ObjectPtr> nodes;
  nodes.reserve(cluster_.node_count());
  for (std::uint32_t rank = 0; rank < cluster_.node_count(); ++rank)
    nodes.push_back(cluster_.node_object(cluster_.node_at(rank)));
  return nodes;
}

const ClusterModel::Slot* ClusterModel::find(std::string_view name_space,
                                             std::string_view name) const {
  const auto at = slot_by_name_.find(Name{name_space, name});
  return at == slot_by_name_.end() ? nullptr : &slots_[at->second];
}

ObjectPtr ClusterModel::pod(std::string_view name_space, std::string_view name) const {
  const Slot* slot = find(name_space, name);
  return slot == nullptr ? nullptr : slot->pod;
}

std::vector<ObjectPtr> ClusterModel::running() const {
  std::vector<ObjectPtr> pods;
  for (const Slot& slot : slots_)
    if (slot.pod != nullptr && holds_node(slot.pod)) pods.push_back(slot.pod);
  std::ranges::sort(pods, [](const ObjectPtr& a, const ObjectPtr& b) {
    return std::tie(a->meta().name_space, a->meta().name) <
           std::tie(b->meta().name_space, b->meta().name);
  });
  return pods;
}

// --- roles ---

std::vector<ObjectPtr> ClusterModel::in_order(const std::vector<SlotId>& slots,
                                              std::size_t at_most) const {
  std::vector<ObjectPtr> pods;
  pods.reserve(slots.size());
  for (const SlotId id : slots) pods.push_back(slots_[id].pod);
  if (pods.size() > at_most) {
    std::ranges::nth_element(pods, pods.begin() + static_cast<std::ptrdiff_t>(at_most),
                             comes_first);
    pods.resize(at_most);
  }
  std::ranges::sort(pods, comes_first);
  return pods;
}

std::vector<ObjectPtr> ClusterModel::members(const GroupKey& leaf, PodRole role,
                                             std::size_t at_most) const {
  const auto at = leaves_.find(leaf);
  if (at == leaves_.end()) return {};
  return in_order(at->second[static_cast<std::size_t>(role)], at_most);
}

std::size_t ClusterModel::count(const GroupKey& leaf, PodRole role) const {
  const auto at = leaves_.find(leaf);
  return at == leaves_.end() ? 0 : at->second[static_cast<std::size_t>(role)].size();
}

std::vector<ObjectPtr> ClusterModel::lone(PodRole role) const {
  return in_order(lone_[static_cast<std::size_t>(role)]);
}

// --- groups ---

std::vector<GroupKey> ClusterModel::roots() const {
  std::vector<GroupKey> roots;
  for (const auto& [leaf, members] : leaves_)
    if (const GroupSpec* root = forest_.root_of(leaf)) roots.push_back(root->key);
  std::ranges::sort(roots);
  const auto repeated = std::ranges::unique(roots);
  roots.erase(repeated.begin(), repeated.end());
  return roots;
}

// Members that disagree fail together, which one attempt finds out for all of them.
bool ClusterModel::loose(const GroupKey& key) const {
  if (!forest_.loose(key) || faults_.of_group(key) != nullptr || !faults_.is_judged(key))
    return false;
  return key.kind != GroupKind::PodGroup || traits_.agree(key, *forest_.root_of(key));
}

// The age of its pods decides, so that a restart does not start the wait again. Those of very large
// trees came together: that of the first ones will do.
std::optional<Time> ClusterModel::comparison_due(const GroupKey& root, Time now) const {
  const GroupSpec* group = forest_.find(root);
  if (group == nullptr || group->workload.empty() || was_scheduled(*group)) return std::nullopt;
  std::optional<Time> since;
  std::size_t left = kMembersAskedMax;
  ForestWalk walk(root, ForestWalk::Over::Busy);
  for (const GroupKey* key = forest_.next(walk); key != nullptr && left > 0;
       key = forest_.next(walk), --left) {
    const auto at = leaves_.find(*key);
    if (at == leaves_.end()) continue;
    for (const PodRole role : {PodRole::Waiting, PodRole::Gated})
      for (const SlotId id : at->second[static_cast<std::size_t>(role)]) {
        if (left == 1) break;
        --left;
        const Time created = slots_[id].pod->meta().creation_time.value_or(now);
        since = since ? std::min(*since, created) : created;
      }
  }
  if (!since) return std::nullopt;
  return *since + options_.compare_patience;
}

void ClusterModel::add_traits(Group& group) const {
  if (group.key.kind == GroupKind::PodGroup)
    group.traits = traits_.of(group.key.name_space, group.key.name);
  for (Group& child : group.children) add_traits(child);
}

void ClusterModel::add_nominations(Group& group) const {
  for (PendingPod& pending : group.pods)
    pending.nominated = nominations_.node_of(pending.pod->meta().uid);
  for (Group& child : group.children) add_nominations(child);
}

void ClusterModel::count_nominated(const PendingPod& tried) {
  const std::string& uid = tried.pod->meta().uid;
  nominations_.count_for(view_of(tried.pod).priority, {&uid, 1});
}

void ClusterModel::count_nominated(const Group& tried) {
  if (nominations_.empty()) return;
  std::vector<std::string> own;
  const auto add = [&own](const auto& self, const Group& group) -> void {
    for (const PendingPod& pending : group.pods)
      if (!pending.nominated.empty()) own.push_back(pending.pod->meta().uid);
    for (const Group& child : group.children) self(self, child);
  };
  add(add, tried);
  nominations_.count_for(tried.priority, own);
}

namespace {

// The age of the pods decides, so that a restart does not start the wait again.
void add_waits(Group& group, Time now) {
  std::optional<Time>& since = group.waits_since;
  const auto count = [&since](Time created) {
    since = since ? std::min(*since, created) : created;
  };
  for (const PendingPod& pending : group.pods)
    count(pending.pod->meta().creation_time.value_or(now));
  for (Group& child : group.children) {
    add_waits(child, now);
    if (child.waits_since) count(*child.waits_since);
  }
  if (since && !group.preferred.key.empty() && now < *since + group.preferred.wait)
    group.insists_until = *since + group.preferred.wait;
}

}  // namespace

Group ClusterModel::build(const GroupKey& root, const WorkloadForest::Fill& fill, Time now) const {
  Group tree = forest_.build(root, fill);
  add_traits(tree);
  add_waits(tree, now);
  if (!nominations_.empty()) add_nominations(tree);
  return tree;
}

Group ClusterModel::build(const GroupKey& root) const {
  const auto fill = [this](const GroupKey& leaf, std::vector<PendingPod>& pods) {
    for (const ObjectPtr& pod : members(leaf, PodRole::Waiting))
      pods.push_back(
          {.pod = pod, .attempts = 0, .queued_at = pod->meta().creation_time.value_or(Time{})});
  };
  return build(root, fill, Time::max());
}

}  // namespace muster::scheduler
