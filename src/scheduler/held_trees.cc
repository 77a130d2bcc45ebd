#include "scheduler/held_trees.h"

#include <algorithm>
#include <utility>

#include "api/values/waits_for.h"
#include "api/views/pod_facts.h"
#include "scheduler/waits_for_words.h"

namespace muster::scheduler {

using api::ObjectPtr;

bool says_other_than_siblings(const api::Object& pod) {
  static const std::string siblings = waits_for_condition(WaitsFor::Siblings).reason;
  const api::Condition* waits = pod.view<api::PodView>().condition(api::kWaitsForCondition);
  return waits != nullptr && waits->reason != siblings;
}

void HeldTrees::set_held(const GroupKey& root, Tree& tree, bool is_held) {
  tree.is_held = is_held;
  if (is_held && tree.walk) {
    due_[root.name_space].insert(root);
  } else if (const auto due = due_.find(root.name_space); due != due_.end()) {
    due->second.erase(root);
    if (due->second.empty()) due_.erase(due);
  }
}

void HeldTrees::held(const GroupKey& root) {
  const auto [at, is_new] = trees_.try_emplace(root);
  if (is_new) at->second.walk.emplace(ForestWalk(root, ForestWalk::Over::Busy));
  set_held(root, at->second, true);
}

void HeldTrees::released(const GroupKey& root) {
  const auto at = trees_.find(root);
  if (at != trees_.end() && at->second.is_held) set_held(root, at->second, false);
}

void HeldTrees::forget(const GroupKey& root) {
  released(root);
  trees_.erase(root);
}

void HeldTrees::says_other(const GroupKey& group) {
  if (trees_.empty()) return;
  const GroupSpec* root = model_.forest().root_of(group);
  const auto at = root == nullptr ? trees_.end() : trees_.find(root->key);
  if (at == trees_.end()) return;
  Tree& tree = at->second;
  tree.again = tree.walk.has_value();
  if (tree.again) return;
  tree.walk.emplace(ForestWalk(root->key, ForestWalk::Over::Busy));
  set_held(root->key, tree, tree.is_held);
}

// One slice of the namespace whose turn it is.
std::vector<ObjectPtr> HeldTrees::run(Time now) {
  std::vector<ObjectPtr> told;
  auto at = due_.upper_bound(looked_last_);
  for (std::size_t i = 0; i < due_.size(); ++i, ++at) {
    if (at == due_.end()) at = due_.begin();
    if (turns_.left(at->first, now) < kLooksMax) continue;
    looked_last_ = at->first;
    std::size_t left = kLooksMax;
    while (left > 0 && !at->second.empty()) {
      const GroupKey root = *at->second.begin();
      Tree& tree = trees_.at(root);
      if (!go_on(*tree.walk, left, told)) break;
      tree.walk.reset();
      if (std::exchange(tree.again, false))
        tree.walk.emplace(ForestWalk(root, ForestWalk::Over::Busy));
      else
        at->second.erase(root);
    }
    looks_ += kLooksMax - left;
    turns_.charge(at->first, kLooksMax - left + told.size() * kLooksPerWord, now);
    if (at->second.empty()) due_.erase(at);
    break;
  }
  std::ranges::sort(told, {}, [](const ObjectPtr& pod) { return pod->meta().uid; });
  return told;
}

// True at the end; false if there is more to look at than was left.
bool HeldTrees::go_on(Walk& walk, std::size_t& left, std::vector<ObjectPtr>& told) const {
  while (left > 0) {
    if (walk.leaf) {
      const std::size_t before = walk.pods_left;
      walk.pods_left = model_.each_member_before(before, left, *walk.leaf, PodRole::Waiting,
                                                 [&](const ObjectPtr& pod) {
                                                   --left;
                                                   if (says_other_than_siblings(*pod))
                                                     told.push_back(pod);
                                                 });
      if (walk.pods_left > 0) return false;
      walk.leaf.reset();
      continue;
    }
    const GroupKey* group = model_.forest().next(walk.groups);
    if (group == nullptr) return true;
    --left;
    if (group->kind != GroupKind::PodGroup) continue;
    walk.leaf = *group;
    walk.pods_left = model_.count(*group, PodRole::Waiting);
  }
  return false;
}

std::optional<Time> HeldTrees::next_deadline() const {
  std::optional<Time> next;
  for (const auto& [name_space, roots] : due_) {
    const Time when = turns_.when(name_space, kLooksMax);
    next = std::min(next.value_or(when), when);
  }
  return next;
}

}  // namespace muster::scheduler
