#include "scheduler/groups/tree_faults.h"

namespace muster::scheduler {

TreeFaults::TreeFaults(const TreeFaults& other, const WorkloadForest& forest)
    : forest_(forest),
      trees_(other.trees_),
      anchors_(other.anchors_),
      published_(other.published_),
      compared_(other.compared_),
      compared_by_workload_(other.compared_by_workload_),
      workloads_(other.workloads_),
      changed_(other.changed_) {}

// The layout first: templates are compared only in a proper tree. An unknown Workload is not a
// fault.
std::string TreeFaults::judge(const GroupSpec& group, const GroupKey& anchor) const {
  if (!group.malformed.empty()) return group.malformed;
  std::string fault = forest_.layout_fault(group.key);
  if (!fault.empty() || !compared_.contains(anchor)) return fault;
  const auto workload = workloads_.find({group.key.name_space, group.workload});
  if (workload == workloads_.end()) return {};
  const GroupSpec* parent = nullptr;
  if (!group.parent.empty())
    parent = forest_.find({GroupKind::CompositePodGroup, group.key.name_space, group.parent});
  return template_fault(group, parent, workload->second);
}

// Withdraws the fault of a group. Its tree stays listed while another of its groups is at fault;
// `touched` collects what publish() must look at.
void TreeFaults::forget(const GroupKey& key, std::set<GroupKey>& touched) {
  const auto at = anchors_.find(key);
  if (at == anchors_.end()) return;
  touched.insert(at->second);
  const auto tree = trees_.find(at->second);
  tree->second.faults.erase(key);
  if (tree->second.faults.empty()) trees_.erase(tree);
  anchors_.erase(at);
}

// A fault depends on the group, its path to the root and the root: what is not below the changed
// group keeps its fault. The tree that the group has left is found by its old
// anchor.
TreeFaults::Anchors TreeFaults::look_again(const GroupKey& key) {
  std::set<GroupKey> touched;
  forget(key, touched);
  if (forest_.find(key) == nullptr) {
    changed_.erase(key);
    stop_comparing(key);
  }
  forest_.each_group(key, [&](const GroupSpec& group) {
    changed_.insert(group.key);
    forget(group.key, touched);
    const std::optional<GroupKey> anchor = forest_.anchor_of(group.key);
    if (!anchor) return;
    std::string fault = judge(group, *anchor);
    if (fault.empty()) return;
    trees_[*anchor].faults[group.key] = std::move(fault);
    anchors_.emplace(group.key, *anchor);
    touched.insert(*anchor);
  });
  return publish(touched);
}

// The culprit that was named stays named while it is one: a tree with many faults must not be
// reported again with each of them.
TreeFaults::Anchors TreeFaults::publish(const std::set<GroupKey>& touched) {
  Anchors changed;
  for (const GroupKey& anchor : touched) {
    const auto at = trees_.find(anchor);
    if (at != trees_.end() && !at->second.faults.contains(at->second.culprit))
      at->second.culprit = at->second.faults.begin()->first;
    const std::string* now = of_tree(anchor);
    const auto before = published_.find(anchor);
    if (now == nullptr ? before == published_.end()
                       : before != published_.end() && before->second == *now)
      continue;
    if (now == nullptr)
      published_.erase(before);
    else
      published_[anchor] = *now;
    forest_.each_group(anchor, [&](const GroupSpec& group) {
      if (forest_.anchor_of(group.key) == anchor) changed_.insert(group.key);
    });
    changed.push_back(anchor);
  }
  return changed;
}

// Once compared, a root stays compared until it goes: each later change is judged with templates.
TreeFaults::Anchors TreeFaults::compare(const GroupKey& root) {
  const GroupSpec* group = forest_.find(root);
  if (group == nullptr || group->workload.empty()) return {};
  const WorkloadKey workload{root.name_space, group->workload};
  if (!compared_.emplace(root, workload).second) return {};
  compared_by_workload_[workload].insert(root);
  return look_again(root);
}

void TreeFaults::stop_comparing(const GroupKey& root) {
  const auto at = compared_.find(root);
  if (at == compared_.end()) return;
  const auto roots = compared_by_workload_.find(at->second);
  roots->second.erase(root);
  if (roots->second.empty()) compared_by_workload_.erase(roots);
  compared_.erase(at);
}

TreeFaults::Anchors TreeFaults::set_workload(std::string_view name_space, std::string_view name,
                                             std::optional<WorkloadTemplates> templates) {
  const WorkloadKey key{name_space, name};
  if (templates)
    workloads_[key] = std::move(*templates);
  else
    workloads_.erase(key);
  Anchors changed;
  const auto at = compared_by_workload_.find(key);
  if (at == compared_by_workload_.end()) return changed;
  for (const GroupKey& root : at->second)
    for (GroupKey& anchor : look_again(root)) changed.push_back(std::move(anchor));
  return changed;
}

const std::string* TreeFaults::of_tree(const GroupKey& anchor) const {
  const auto at = trees_.find(anchor);
  return at == trees_.end() ? nullptr : &at->second.faults.at(at->second.culprit);
}

const std::string* TreeFaults::of_group(const GroupKey& key) const {
  if (trees_.empty()) return nullptr;
  const std::optional<GroupKey> anchor = forest_.anchor_of(key);
  return anchor ? of_tree(*anchor) : nullptr;
}

std::vector<GroupKey> TreeFaults::drain_changed() {
  std::vector<GroupKey> out(changed_.begin(), changed_.end());
  changed_.clear();
  return out;
}

}  // namespace muster::scheduler
