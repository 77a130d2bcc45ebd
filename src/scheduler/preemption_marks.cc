// What the scheduler does about groups that are evicted as a whole, by itself or by one before it.
#include <algorithm>

#include "api/views/group_view.h"
#include "api/views/pod_facts.h"
#include "scheduler/preemption/unit_table.h"
#include "scheduler/preemptions.h"

namespace muster::scheduler {

using api::ObjectPtr;
using api::view_of;

void Preemptions::pod_seen(const ObjectPtr& pod, Time now) {
  const std::string& uid = pod->meta().uid;
  if (api::is_terminating(pod)) {
    units_.pod_leaves(uid, now);
    marked_.erase(uid);
    return;
  }
  // The words begin with the name of the scheduler that wrote them.
  const api::Condition* const mark = eviction_mark(view_of(pod));
  const bool is_ours =
      mark != nullptr && model_.profiles().serves(mark->message.substr(0, mark->message.find(':')));
  if (!is_ours || units_.concerns(uid)) {
    marked_.erase(uid);
    return;
  }
  marked_.insert_or_assign(uid, pod);
  if (is_synced_) follow_up_marks(now);
}

void Preemptions::synced(Time now) {
  is_synced_ = true;
  follow_up_marks(now);
  std::vector<GroupKey> came_back;
  for (const GroupKey& root : model_.roots())
    model_.forest().each_group(root, [&](const GroupSpec& group) {
      if (has_come_back(group)) came_back.push_back(group.key);
    });
  std::ranges::sort(came_back);
  for (const GroupKey& key : came_back) units_.unmark(key, model_.forest().find(key)->object, now);
}

// The group is marked, all that had to go have gone, and new pods run: only its mark was left
// behind. Pods are marked before their group, and the watch keeps their order: once we see a pod
// that was made after the group was marked, we have seen all marks.
bool Preemptions::has_come_back(const GroupSpec& group) const {
  if (group.object == nullptr) return false;
  const auto& view = group.object->view<api::GroupView>();
  if (eviction_mark(view) == nullptr) return false;
  const std::optional<Time> marked_at = view.condition("DisruptionTarget")->last_transition;
  bool has_new = false;
  bool has_old = false;
  model_.forest().each_leaf(group.key, [&](const GroupKey& leaf) {
    for (const ObjectPtr& pod : model_.members(leaf, PodRole::Running)) {
      const std::optional<Time> made = pod->meta().creation_time;
      has_new |= made && marked_at && *made > *marked_at;
      has_old |= eviction_mark(view_of(pod)) != nullptr;
    }
  });
  return has_new && !has_old;
}

// A lone pod, or one that is disrupted alone, is marked at the moment it is deleted: if it is still
// there, nobody depends on its leaving.
void Preemptions::follow_up_marks(Time now) {
  if (!is_synced_) return;
  for (auto at = marked_.begin(); at != marked_.end();) {
    const ObjectPtr pod = at->second;
    const std::optional<GroupKey> leaf = model_.leaf_of(*pod);
    const UnitHome home = leaf ? find_home(model_, *leaf) : UnitHome{};
    if (leaf && !home.is_known) {
      ++at;  // its group may come yet
      continue;
    }
    at = marked_.erase(at);
    if (home.unit) units_.found(*home.unit, model_.forest().find(*home.unit)->object, pod, now);
  }
}

bool Preemptions::is_evicted(const Group& tree) const {
  if (units_.empty()) return false;
  return units_.is_evicted(tree.key) ||
         std::ranges::any_of(tree.children,
                             [this](const Group& child) { return is_evicted(child); });
}

// Those that wait in it were not tried meanwhile.
void Preemptions::unit_ended(const GroupKey& unit, Time now) {
  std::vector<GroupKey> leaves;
  model_.forest().each_leaf(unit, [&leaves](const GroupKey& leaf) { leaves.push_back(leaf); });
  for (const GroupKey& leaf : leaves) queue_.members_changed(leaf, true, now);
}

// A group that was evicted as a whole has a place again.
void Preemptions::end_disruption(const GroupVerdict& verdict, Time now) {
  const GroupSpec* const group = model_.forest().find(verdict.key);
  if (group == nullptr || group->object == nullptr ||
      eviction_mark(group->object->view<api::GroupView>()) == nullptr)
    return;
  units_.unmark(group->key, group->object, now);
}

}  // namespace muster::scheduler
